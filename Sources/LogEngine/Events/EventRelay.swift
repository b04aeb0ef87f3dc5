import LogFormat
import Synchronization

/// Takes events in wherever they happen, and hands them over where no lock is held.
///
/// Noting one is appending to a list: its lock is taken last of all, and nothing is called under it. One
/// thread at a time delivers; whoever comes meanwhile leaves its events to that one. So the handler sees
/// them in order, is never entered twice, and may itself cause events.
package final class EventRelay: Sendable {
  /// Who listens.
  let handler: EngineEventHandler?
  private let queue = Mutex<Queue>(Queue())

  private struct Queue {
    var events: [EngineEvent] = []
    var isDelivering = false
    var isLeftBehind = false
    var isClosed = false
    /// When the lack of space was told of last, in microseconds.
    var toldOfSpace: Int64?
    /// The damage that was told of.
    var known: Set<StorageError> = []

    mutating func beginDelivery() -> Bool {
      if isDelivering || events.isEmpty { return false }
      isDelivering = true
      return true
    }

    /// - Returns: The next event; `nil`, and delivery has ended, if there is none.
    mutating func takeNext() -> EngineEvent? {
      isDelivering = !events.isEmpty
      return isDelivering ? events.removeFirst() : nil
    }
  }

  /// The time after which a lack of space is told of again, in microseconds.
  static let spaceInterval: Int64 = 60_000_000
  /// How many places of damage are told of: a store with more has been lost, and that is known by then.
  static let damageLimit = 256

  init(_ handler: EngineEventHandler?) { self.handler = handler }

  /// Whether somebody listens.
  var isObserved: Bool { handler != nil }

  /// Takes note of an event, for whoever delivers next; under any lock.
  func note(_ event: @autoclosure () -> EngineEvent) {
    guard handler != nil else { return }
    let event = event()
    queue.withLock { $0.events.append(event) }
  }

  /// Hands over what was noted, unless another thread is doing so; under no lock.
  func deliver() {
    guard let handler, queue.withLock({ $0.beginDelivery() }) else { return }
    while let event = queue.withLock({ $0.takeNext() }) { handler(event) }
  }
}

// MARK: What is told of once

extension EventRelay {
  /// Takes note that the device is full, if that is what an error says.
  ///
  /// - Parameters:
  ///   - error: Why something could not be written.
  ///   - now: The time, in microseconds; read only if it is wanted.
  func noteLackOfSpace(_ error: StorageError, _ now: @autoclosure () -> Int64) {
    guard handler != nil, case .noSpace(let path, let needed) = error else { return }
    let now = now()
    queue.withLock { queue in
      // A clock that jumped back must not keep it silent.
      if let last = queue.toldOfSpace, 0..<Self.spaceInterval ~= now - last { return }
      queue.toldOfSpace = now
      queue.events.append(.noSpace(path: path, needed: needed))
    }
  }

  /// Takes note of damage, once for each place.
  func noteDamage(_ error: StorageError) {
    guard handler != nil else { return }
    queue.withLock { queue in
      guard queue.known.count < Self.damageLimit, queue.known.insert(error).inserted else { return }
      queue.events.append(.damageFound(error))
    }
  }

  /// Takes note, once, that the store was closed.
  func noteClosing() {
    guard handler != nil else { return }
    queue.withLock { queue in
      if queue.isClosed { return }
      queue.isClosed = true
      queue.events.append(.closed)
    }
  }

  /// Takes note, once, that a follower cannot go on.
  func noteLeftBehind(_ error: StorageError) {
    guard handler != nil else { return }
    queue.withLock { queue in
      if queue.isLeftBehind { return }
      queue.isLeftBehind = true
      queue.events.append(.leftBehind(error))
    }
  }
}
