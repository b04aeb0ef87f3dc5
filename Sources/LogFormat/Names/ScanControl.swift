/// Whether a scan goes on.
public enum ScanControl: Sendable, Hashable {
  case proceed
  case stop
}
