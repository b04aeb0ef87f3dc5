import Synchronization

/// Who is called when another context has saved.
final class SaveBell: Sendable {
  struct Key: Hashable, Sendable { fileprivate let number: Int }

  private struct Alarms {
    var next = 0
    var byKey: [Key: @Sendable () -> Void] = [:]
  }

  private let alarms = Mutex(Alarms())

  func makeKey() -> Key {
    alarms.withLock { alarms in
      alarms.next += 1
      return Key(number: alarms.next)
    }
  }

  func set(_ key: Key, _ alarm: @escaping @Sendable () -> Void) {
    alarms.withLock { $0.byKey[key] = alarm }
  }

  func remove(_ key: Key) { alarms.withLock { $0.byKey[key] = nil } }

  func ring() {
    // Called without the lock: an alarm may release an observer that removes its own.
    for alarm in alarms.withLock({ Array($0.byKey.values) }) { alarm() }
  }
}

/// Carries a context to the actor it belongs to; unchecked, because nothing else is done with it on the way.
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
