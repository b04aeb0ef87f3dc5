import RowFormat
import Synchronization

/// Notified of every save of a container's contexts, on the thread that saved.
protocol SaveListener: AnyObject, Sendable {
  func heard(_ event: SaveEvent)
}

/// A save, as announced to its container's listeners.
struct SaveEvent: Sendable {
  let author: String?
  /// The classes of inserted, updated and deleted models.
  var models: [ModelDescriptor] = []
  /// The classes, or their superclasses, of owners of lists that may have changed with their members.
  private(set) var owners: [ModelDescriptor] = []
  /// The bookmarks after the save, by store.
  var tokens: [String: any HistoryToken] = [:]
}

/// The listeners to the saves of a container; without listeners, a save reads one number.
final class SaveListeners: Sendable {
  private struct Listener {
    weak var value: (any SaveListener)?
  }

  private let count = Atomic<Int>(0)
  private let listeners = Mutex<[ObjectIdentifier: Listener]>([:])

  func add(_ listener: any SaveListener) {
    listeners.withLock { listeners in
      listeners[ObjectIdentifier(listener)] = Listener(value: listener)
      count.store(listeners.count, ordering: .releasing)
    }
  }

  func remove(_ listener: any SaveListener) {
    listeners.withLock { listeners in
      listeners[ObjectIdentifier(listener)] = nil
      count.store(listeners.count, ordering: .releasing)
    }
  }

  /// Announces the saves of one context.
  func tell(_ saves: [StoreSave], author: String?) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    guard let event = SaveEvent(saves, author: author) else { return }
    tell(event)
  }

  /// Announces a batch, which wrote rows without objects.
  func tell(
    _ rows: SavedRows,
    _ token: (any HistoryToken)?,
    in connection: StoreConnection,
    author: String?
  ) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    guard token != nil || connection.store.history == nil else { return }
    var event = SaveEvent(author: author)
    if let token { event.tokens[connection.identifier] = token }
    for list in [rows.inserted, rows.updated, rows.deleted] {
      var last: UInt16?
      for row in list where row.table != last {
        last = row.table
        if let descriptor = connection.descriptor(of: row) {
          event.insert(descriptor)
          event.insertOwners(ofLists: descriptor)
        }
      }
    }
    tell(event)
  }

  private func tell(_ event: SaveEvent) {
    // Outside the lock: a listener may add and remove listeners.
    let all = listeners.withLock { $0.values.compactMap(\.value) }
    for listener in all { listener.heard(event) }
  }
}

extension SaveEvent {
  /// Makes the event of a save; `nil` if it wrote nothing.
  fileprivate init?(_ saves: [StoreSave], author: String?) {
    self.author = author
    var hasWritten = false
    for save in saves {
      let (connection, changes) = (save.connection, save.changes)
      if let token = save.token { tokens[connection.identifier] = token }
      guard save.token != nil || connection.store.history == nil else { continue }
      hasWritten = true
      for list in [changes.inserted, changes.updated, changes.deleted] {
        for model in list { insert(model._$state.descriptor) }
      }
      for row in save.derived + changes.deletedRows + changes.clearedReferences.map(\.row) {
        if let descriptor = connection.descriptor(of: row) { insert(descriptor) }
      }
      for model in changes.deleted { insertOwners(leftBy: model._$state) }
    }
    if !hasWritten { return nil }
  }

  fileprivate mutating func insert(_ descriptor: ModelDescriptor) {
    // Objects of one class mostly come together.
    if models.last === descriptor || models.contains(where: { $0 === descriptor }) { return }
    models.append(descriptor)
  }

  /// Adds the owners of lists that consist of their members: the history has an update of each that a member joined or left.
  ///
  /// Only the rows identify them. Changes of objects are recorded at both ends, and need none of this (but see
  /// ``insertOwners(leftBy:)``).
  fileprivate mutating func insertOwners(ofLists member: ModelDescriptor) {
    for property in member.relationships { insertOwner(at: property) }
  }

  /// Adds the owners that a deleted member has left without notification: with `.noAction`, only its row leads to them.
  private mutating func insertOwners(leftBy member: _ModelState) {
    for property in member.descriptor.relationships
    where property.deleteRule == .noAction && !property.isToMany
      && member.storedReference(property) != nil
    {
      insertOwner(at: property)
    }
  }

  /// Adds the class at the other end of a to-one relationship, if that end is a list that consists of its members.
  private mutating func insertOwner(at property: ModelProperty) {
    guard !property.isToMany, property.inverse?.isDerivable == true,
      let destination = property.destination
    else { return }
    let owner = ModelDescriptor.of(destination)
    if !owners.contains(where: { $0 === owner }) { owners.append(owner) }
  }
}
