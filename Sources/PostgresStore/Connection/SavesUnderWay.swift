#if PostgreSQL
import Foundation

/// The saves of a store that are under way: its closing lets no other begin, and waits for them.
///
/// A save that has lost its session continues in a new one, in which it may have to ask for the outcome of its commit.
/// Without one it would stay unknown whether it was kept.
final class SavesUnderWay: @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by the condition.
  private var count = 0
  private var hasClosed = false

  var isClosed: Bool { condition.withLock { hasClosed } }

  /// Begins a save, for ``end()``.
  ///
  /// - Returns: `false`, and none has begun, if the store was closed.
  func begin() -> Bool {
    condition.withLock {
      if hasClosed { return false }
      count += 1
      return true
    }
  }

  func end() {
    condition.withLock {
      count -= 1
      precondition(count >= 0, "\(count) saves under way")
      if count == 0 { condition.broadcast() }
    }
  }

  /// Lets no save begin any more, and waits for those that have.
  func close() {
    condition.withLock {
      hasClosed = true
      while count > 0 { condition.wait() }
    }
  }
}
#endif
