/// The answer of a scan's closure: continue or stop.
public enum ScanControl: Sendable, Hashable {
  /// Continues with the next element.
  case proceed
  /// Ends the scan, which returns without an error.
  case stop
}
