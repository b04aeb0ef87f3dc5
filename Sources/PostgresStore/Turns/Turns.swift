#if PostgreSQL
import Foundation

/// The turns of a store, of which one thread at a time has one.
///
/// Other threads of the process wait for that thread, and not each for the server: a store needs one session beside its
/// limit for turns, however many threads save.
///
/// Unchecked, because the lock guards the variable.
final class Turns: @unchecked Sendable {
  private let lock = NSRecursiveLock()
  /// One for each ``begin(_:)`` that was not ended; calls that continue a turn have the same.
  private var turns: [Turn] = []

  /// Waits for the turn; a thread that has it continues with it, unless it is spent.
  ///
  /// - Parameter take: Waits for the server.
  /// - Throws: What `take` throws; then there is no turn.
  func begin(_ take: () throws -> Turn) throws {
    lock.lock()
    do {
      if let turn = turns.last, !turn.isSpent {
        turns.append(turn)
      } else {
        turns.append(try take())
      }
    } catch {
      lock.unlock()
      throw error
    }
  }

  /// Ends what one ``begin(_:)`` began, on the same thread.
  func end() {
    let turn = turns.removeLast()
    if turns.last !== turn { turn.end() }
    lock.unlock()
  }

  /// The turn of this thread.
  var current: Turn? {
    // If another thread has the lock, this one has no turn, and saves beside it.
    guard lock.try() else { return nil }
    defer { lock.unlock() }
    return turns.last
  }
}
#endif
