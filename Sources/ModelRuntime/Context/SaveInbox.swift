import Locking
import RowFormat

/// The rows that one save, or several, changed in one store.
struct SavedRows: Sendable {
  let connectionIndex: Int
  var inserted: [RowReference] = []
  var updated: [RowReference] = []
  var deleted: [RowReference] = []
  /// Whether these are all; otherwise any row of the store may have changed.
  var isComplete = true

  /// How many rows these are.
  fileprivate var count: Int { inserted.count + updated.count + deleted.count }
}

/// What other contexts saved, until the context it is for has time to look.
final class SaveInbox: Sendable {
  fileprivate struct Contents {
    var saves: [SavedRows] = []
    var rowCount = 0
  }

  private let contents = Lock<Contents>(Contents(), .saveInbox)
  /// The number of rows beyond which those of a context that does not look are not told apart any more.
  static let rowLimit = 1 << 16
  /// Called by who posts, without locks, when something has come into an empty inbox.
  private let arrival: @Sendable () -> Void
  /// Rings also for saves that come into an inbox before it is emptied.
  private let bell: SaveBell?

  init(_ bell: SaveBell?, arrival: @escaping @Sendable () -> Void) {
    self.bell = bell
    self.arrival = arrival
  }

  /// Takes rows in.
  ///
  /// - Returns: Who is to be called, if anybody.
  func note(_ rows: [SavedRows]) -> (@Sendable () -> Void)? {
    let wasEmpty = contents.withLock { contents in
      defer { contents.add(rows) }
      return contents.saves.isEmpty
    }
    return wasEmpty ? arrival : bell?.furtherRing
  }

  func takeAll() -> [SavedRows] {
    contents.withLock { contents in
      defer { contents = Contents() }
      return contents.saves
    }
  }
}

extension SaveInbox.Contents {
  /// Adds what was saved; too many rows become one entry for each store they are in.
  fileprivate mutating func add(_ rows: [SavedRows]) {
    saves += rows
    for save in rows { rowCount += save.count }
    let isOften = saves.count > SaveInbox.rowLimit
    guard (rowCount > SaveInbox.rowLimit || isOften) && saves.count > 1 else { return }
    let stores = Set(saves.lazy.map(\.connectionIndex)).sorted()
    saves = stores.map { SavedRows(connectionIndex: $0, isComplete: false) }
    rowCount = 0
  }
}

/// The inboxes of a container's contexts.
final class SaveInboxes: Sendable {
  private let inboxes = Lock<[SaveInbox]>([], .inboxes)

  func add(_ inbox: SaveInbox) { inboxes.withLock { $0.append(inbox) } }
  func remove(_ inbox: SaveInbox) { inboxes.withLock { $0.removeAll { $0 === inbox } } }

  /// Tells all contexts but the one that saved.
  func post(_ rows: @autoclosure () -> [SavedRows], from sender: SaveInbox?) {
    for notice in note(rows(), from: sender) { notice() }
  }

  /// Leaves rows for all contexts but the one that saved.
  ///
  /// - Returns: Who is to be called, once that can be done without locks.
  func note(
    _ rows: @autoclosure () -> [SavedRows],
    from sender: SaveInbox?
  ) -> [@Sendable () -> Void] {
    let others = inboxes.withLock { $0.filter { $0 !== sender } }
    if others.isEmpty { return [] }
    let rows = rows()
    return others.compactMap { $0.note(rows) }
  }
}
