/// Whether a scan goes on.
public enum ScanControl: Sendable, Hashable {
  /// Visit the next.
  case proceed
  /// Visit no more; the scan returns without an error.
  case stop
}
