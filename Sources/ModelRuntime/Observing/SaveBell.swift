import Synchronization

/// The alarms that ring when another context has saved.
final class SaveBell: Sendable {
  struct Key: Hashable, Sendable { fileprivate let number: Int }

  struct Alarm: Sendable {
    /// Whether the saving thread notifies the observer, because there is no actor to call.
    let isDirect: Bool
    let sound: @Sendable () -> Void
  }

  private struct Alarms {
    var next = 0
    var byKey: [Key: Alarm] = [:]
  }

  private let alarms = Mutex(Alarms())

  func makeKey() -> Key {
    alarms.withLock { alarms in
      alarms.next += 1
      return Key(number: alarms.next)
    }
  }

  func set(_ key: Key, _ alarm: Alarm) { alarms.withLock { $0.byKey[key] = alarm } }

  func remove(_ key: Key) { alarms.withLock { $0.byKey[key] = nil } }

  func ring() {
    // Called without the lock: an alarm may release an observer that removes its own.
    for alarm in alarms.withLock({ Array($0.byKey.values) }) { alarm.sound() }
  }

  /// The ring for a save that arrives before the earlier ones were read; `nil` if no observer needs it.
  ///
  /// An observer that the saving thread notifies may have read its results before the first save rang, and registered
  /// with Observation only after.
  var furtherRing: (@Sendable () -> Void)? {
    let direct = alarms.withLock { $0.byKey.values.filter(\.isDirect) }
    if direct.isEmpty { return nil }
    return { @Sendable in for alarm in direct { alarm.sound() } }
  }
}

/// Carries a context to the actor it belongs to; unchecked, because nothing else uses it on the way.
struct ContextOwnerReference: @unchecked Sendable {
  private weak var context: ModelContext?
  private weak var owner: (any Actor)?

  init(_ context: ModelContext, _ owner: any Actor) {
    self.context = context
    self.owner = owner
  }

  /// Merges the saves of others into the context, at its owner's next turn.
  func mergeSavedChanges() {
    guard let owner else { return }
    Task { await merge(on: owner) }
  }

  private func merge(on owner: isolated any Actor) { context?.mergeSavedChanges() }
}
