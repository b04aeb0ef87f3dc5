import Observation
import SwiftData
import Synchronization

/// Counts how often whoever tracked something was told that it changes.
final class Notices: Sendable {
  private let told = Mutex(0)
  var count: Int { told.withLock { $0 } }

  /// Tracks what is read, once.
  @discardableResult
  func track<R>(_ read: () -> R) -> R {
    withObservationTracking(read) { self.told.withLock { $0 += 1 } }
  }
}

extension ResultsObserver<Volume, Never> {
  var titles: String { results.map(\.title).joined() }
}

extension ResultsObserver<Volume, String> {
  /// The sections as `fiction:ab travel:c`.
  var outline: String {
    guard let sections else { return "no sections" }
    return sections.map { "\($0.title):" + $0.map(\.title).joined() }.joined(separator: " ")
  }
}
