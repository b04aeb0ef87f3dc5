import Locking
import LogFormat

/// Collects events wherever they occur, and delivers them while no lock is held.
///
/// Recording an event appends it to a list: its lock is the last in the order, and nothing is called under it. One thread at a
/// time delivers; a thread that arrives meanwhile leaves its events to that thread. So the handler sees them in order, is never
/// entered twice, and may itself cause events.
package final class EventRelay: Sendable {
  /// The receiver of the events.
  let handler: EngineEventHandler?
  private let queue = Lock<Queue>(Queue(), .events)

  private struct Queue {
    var events: [EngineEvent] = []
    var isDelivering = false
    var isLeftBehind = false
    var isClosed = false
    /// The time of the last no-space event, in microseconds.
    var toldOfSpace: Int64?
    /// The damage that was reported.
    var known: Set<StorageError> = []

    mutating func beginDelivery() -> Bool {
      if isDelivering || events.isEmpty { return false }
      isDelivering = true
      return true
    }

    /// - Returns: The next event; `nil` if there is none, which ends the delivery.
    mutating func takeNext() -> EngineEvent? {
      isDelivering = !events.isEmpty
      return isDelivering ? events.removeFirst() : nil
    }
  }

  /// The minimum interval between two no-space events, in microseconds.
  static let spaceInterval: Int64 = 60_000_000
  /// The maximum number of damaged places that are reported: a store with more is lost, and its operator knows by then.
  static let damageLimit = 256

  init(_ handler: EngineEventHandler?) { self.handler = handler }

  /// Whether there is a receiver.
  var isObserved: Bool { handler != nil }

  /// Records an event for the next delivery; may be called under any lock.
  func report(_ event: @autoclosure () -> EngineEvent) {
    guard handler != nil else { return }
    let event = event()
    queue.withLock { $0.events.append(event) }
  }

  /// Delivers the recorded events, unless another thread is doing so; must be called without locks.
  func deliver() {
    guard let handler, queue.withLock({ $0.beginDelivery() }) else { return }
    while let event = queue.withLock({ $0.takeNext() }) { handler(event) }
  }
}

// MARK: Events that are reported once

extension EventRelay {
  /// Records that the device is full, if the error says so.
  ///
  /// - Parameters:
  ///   - error: The reason that a write failed.
  ///   - now: The time, in microseconds; read only if needed.
  func reportLackOfSpace(_ error: StorageError, _ now: @autoclosure () -> Int64) {
    guard handler != nil, case .noSpace(let path, let needed) = error else { return }
    let now = now()
    queue.withLock { queue in
      // A clock that jumped back must not suppress the event.
      if let last = queue.toldOfSpace, 0..<Self.spaceInterval ~= now - last { return }
      queue.toldOfSpace = now
      queue.events.append(.noSpace(path: path, needed: needed))
    }
  }

  /// Records damage, once for each place.
  func reportDamage(_ error: StorageError) {
    guard handler != nil else { return }
    queue.withLock { queue in
      guard queue.known.count < Self.damageLimit, queue.known.insert(error).inserted else { return }
      queue.events.append(.damageFound(error))
    }
  }

  /// Records, once, that the store was closed.
  func reportClosing() {
    guard handler != nil else { return }
    queue.withLock { queue in
      if queue.isClosed { return }
      queue.isClosed = true
      queue.events.append(.closed)
    }
  }

  /// Records, once, that a follower cannot continue.
  func reportLeftBehind(_ error: StorageError) {
    guard handler != nil else { return }
    queue.withLock { queue in
      if queue.isLeftBehind { return }
      queue.isLeftBehind = true
      queue.events.append(.leftBehind(error))
    }
  }
}
