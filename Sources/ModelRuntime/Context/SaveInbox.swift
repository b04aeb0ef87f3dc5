import Locking
import RowFormat

/// The rows that one or several saves changed in one store.
struct SavedRows: Sendable {
  let connectionIndex: Int
  var inserted: [RowReference] = []
  var updated: [RowReference] = []
  var deleted: [RowReference] = []
  /// Whether the list is complete; otherwise any row of the store may have changed.
  var isComplete = true

  /// Number of rows.
  fileprivate var count: Int { inserted.count + updated.count + deleted.count }
}

/// Saves of other contexts, kept until the receiving context takes them.
final class SaveInbox: Sendable {
  fileprivate struct Contents {
    var saves: [SavedRows] = []
    var rowCount = 0
  }

  private let contents = Lock<Contents>(Contents(), .saveInbox)
  /// Number of rows beyond which an inbox that is not emptied no longer lists them one by one.
  static let rowLimit = 1 << 16
  /// The same for saves, each of which takes some hundred bytes, in every context that merges: a context that nobody uses for so
  /// many of them reads the objects it has anew.
  static let saveLimit = 1 << 10
  /// Called by the poster, without locks, when a save arrives in an empty inbox.
  private let arrival: @Sendable () -> Void
  /// Also rings for saves that arrive before the inbox is emptied.
  private let bell: SaveBell?

  init(_ bell: SaveBell?, arrival: @escaping @Sendable () -> Void) {
    self.bell = bell
    self.arrival = arrival
  }

  /// Adds rows.
  ///
  /// - Returns: The closure to call, if any.
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
  /// Adds saved rows; too many rows become one entry for each store they are in.
  fileprivate mutating func add(_ rows: [SavedRows]) {
    saves += rows
    for save in rows { rowCount += save.count }
    let isOften = saves.count > SaveInbox.saveLimit
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

  /// Notifies all contexts but the one that saved.
  func post(_ rows: @autoclosure () -> [SavedRows], from sender: SaveInbox?) {
    for notice in note(rows(), from: sender) { notice() }
  }

  /// Leaves rows for all contexts but the one that saved.
  ///
  /// - Returns: The closures to call once that can be done without locks.
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
