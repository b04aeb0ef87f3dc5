import LibC
import Synchronization

/// A file descriptor that may be given back while other threads use it: the system closes it once none of them does.
///
/// Otherwise a call that was about to use the number could reach a file that another thread has opened since under the same
/// number.
final class Descriptor: Sendable {
  private let number: CInt
  /// Twice the number of calls in progress, plus one if the descriptor was given back.
  private let state = Atomic<UInt>(0)
  private let isClosed = Atomic<Bool>(false)

  init(_ number: CInt) { self.number = number }

  deinit { closeOnce() }

  /// Lends the descriptor.
  ///
  /// - Throws: ``StorageError/closed(path:)`` if it was given back, or any error that `body` throws.
  @inline(__always)
  func use<R>(
    _ path: String,
    _ body: (CInt) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let before = state.add(2, ordering: .acquiring).oldValue
    defer { if state.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 { closeOnce() } }
    guard before & 1 == 0 else { throw .closed(path: path) }
    return try body(number)
  }

  /// Gives the descriptor back.
  func giveBack() {
    if state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue == 0 { closeOnce() }
  }

  private func closeOnce() {
    if !isClosed.exchange(true, ordering: .relaxed) { _ = close(number) }
  }
}
