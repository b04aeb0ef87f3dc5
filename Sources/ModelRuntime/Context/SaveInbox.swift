import Locking
import RowFormat

/// The rows that one save changed in one store.
struct SavedRows: Sendable {
  let connectionIndex: Int
  var inserted: [RowReference] = []
  var updated: [RowReference] = []
  var deleted: [RowReference] = []
}

/// What other contexts saved, until the context it is for has time to look.
final class SaveInbox: Sendable {
  private let saves = Lock<[SavedRows]>([], .saveInbox)
  /// Called on the saving thread when something comes into an empty inbox.
  private let arrival: @Sendable () -> Void

  init(arrival: @escaping @Sendable () -> Void) { self.arrival = arrival }

  func post(_ rows: [SavedRows]) {
    let wasEmpty = saves.withLock { saves in
      defer { saves += rows }
      return saves.isEmpty
    }
    if wasEmpty { arrival() }
  }

  func takeAll() -> [SavedRows] {
    saves.withLock { saves in
      defer { saves = [] }
      return saves
    }
  }
}

/// The inboxes of a container's contexts.
final class SaveInboxes: Sendable {
  private let inboxes = Lock<[SaveInbox]>([], .inboxes)

  func add(_ inbox: SaveInbox) { inboxes.withLock { $0.append(inbox) } }
  func remove(_ inbox: SaveInbox) { inboxes.withLock { $0.removeAll { $0 === inbox } } }

  /// Tells all contexts but the one that saved.
  func post(_ rows: @autoclosure () -> [SavedRows], from sender: SaveInbox?) {
    let others = inboxes.withLock { $0.filter { $0 !== sender } }
    if others.isEmpty { return }
    let rows = rows()
    for inbox in others { inbox.post(rows) }
  }
}
