import LogEngine
import Synchronization

/// Keeps the events of a store.
final class EventRecorder: Sendable {
  private let recorded = Mutex<[EngineEvent]>([])
  private let onEvent: EngineEventHandler?

  /// - Parameter onEvent: Also told.
  init(_ onEvent: EngineEventHandler? = nil) { self.onEvent = onEvent }

  var handler: EngineEventHandler {
    { event in
      self.recorded.withLock { $0.append(event) }
      self.onEvent?(event)
    }
  }

  var events: [EngineEvent] { recorded.withLock { $0 } }
  var names: [String] { events.map(\.name) }

  /// The events since this was last asked for.
  func take() -> [EngineEvent] {
    recorded.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// What a closure finds in the events.
  func found<T>(_ body: (EngineEvent) -> T?) -> [T] { events.compactMap(body) }

  var segments: [SegmentReport] {
    found { if case .segmentSealed(let report) = $0 { report } else { nil } }
  }
  var poisonings: [StorageError] {
    found { if case .poisoned(let error) = $0 { error } else { nil } }
  }
  var damage: [StorageError] {
    found { if case .damageFound(let error) = $0 { error } else { nil } }
  }
  var lacksOfSpace: Int { found { if case .noSpace = $0 { true } else { nil } }.count }
}
