/// The answer of a scan's closure: continue or stop.
public enum ScanControl: Sendable, Hashable {
  /// Visits the next one.
  case proceed
  /// Ends the scan, which returns without an error.
  case stop
}
