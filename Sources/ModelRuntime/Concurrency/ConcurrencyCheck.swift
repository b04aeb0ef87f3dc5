import Foundation
import Synchronization

/// Detects contexts that are used on the wrong thread.
///
/// Off unless the environment sets `SWIFTDATA_CONCURRENCY_DEBUG` to 1: then the process stops at the first
/// use of a context by the wrong thread, and names the context and its owner. The rules depend on the
/// context's owner:
/// - The main context belongs to the main actor, and the threads that run its code.
/// - A model actor's context belongs to the actor's executor.
/// - Any other may move from thread to thread, but never be in two at once.
///
/// Off, a check costs one load of a Boolean.
enum ConcurrencyCheck {
  private static let enabled = Atomic(
    ProcessInfo.processInfo.environment["SWIFTDATA_CONCURRENCY_DEBUG"] == "1"
  )

  static var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Stops the process with an error message.
  static func fail(_ message: String) -> Never {
    fatalError("SWIFTDATA_CONCURRENCY_DEBUG: \(message)")
  }
}

/// The owner of a context.
enum ContextOwner {
  case nobody
  case mainActor
  case executor(() -> Void)
}

/// A use of a context by one thread.
final class ContextUse: Sendable {
  /// The thread that uses the context right now, or 0, and its nesting depth.
  private let user = Mutex<(thread: UInt, depth: Int)>((0, 0))

  /// Enters; returns the thread that is already in, if it is another.
  func enter(_ thread: UInt) -> UInt? {
    user.withLock { user in
      if user.depth > 0, user.thread != thread { return user.thread }
      user = (thread, user.depth + 1)
      return nil
    }
  }

  func leave() { user.withLock { $0.depth -= 1 } }
}

extension ModelContext {
  /// Uses the context, after checking that this thread may.
  @inline(__always)
  func checked<R>(_ operation: StaticString = #function, _ body: () throws -> R) rethrows -> R {
    guard ConcurrencyCheck.isEnabled else { return try body() }
    checkOwner(operation)
    let thread = UInt(bitPattern: ObjectIdentifier(Thread.current))
    if let other = use.enter(thread) {
      ConcurrencyCheck.fail(
        "\(operation) of a ModelContext was called by thread \(thread) while thread \(other) was using "
          + "the context: make a context for each, and pass persistentModelIDs between them"
      )
    }
    defer { use.leave() }
    return try body()
  }

  /// Checks that a model may be released by this thread: it leaves the context's map, which is not locked.
  @inline(__always)
  func checkDeparture() {
    if ConcurrencyCheck.isEnabled { stopUnlessMayDepart() }
  }

  private func stopUnlessMayDepart() {
    if case .mainActor = owner, !MainActorThread.isCurrent {
      ConcurrencyCheck.fail(
        "a model of the main context was let go of by a thread other than the main one: give the class that holds it "
          + "an `isolated deinit`, or hold persistentModelIDs where others hold it, too"
      )
    }
    let thread = UInt(bitPattern: ObjectIdentifier(Thread.current))
    if let other = use.enter(thread) {
      ConcurrencyCheck.fail(
        "a model was let go of by thread \(thread) while thread \(other) was using its context"
      )
    }
    use.leave()
  }

  private func checkOwner(_ operation: StaticString) {
    switch owner {
    case .nobody: break
    case .mainActor:
      if MainActorThread.isCurrent { return }
      ConcurrencyCheck.fail(
        "\(operation) of the main context was called by a thread other than the main one: use "
          + "ModelContext(container) or a ModelActor there"
      )
    case .executor(let check): check()
    }
  }
}
