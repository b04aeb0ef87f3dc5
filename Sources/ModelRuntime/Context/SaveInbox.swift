import Locking
import RowFormat
import Synchronization

/// The rows that one or several saves changed in one store.
struct SavedRows: Sendable {
  var connectionIndex: Int
  var inserted: [RowReference] = []
  var updated: [RowReference] = []
  var deleted: [RowReference] = []
  /// Whether the list is complete; otherwise any row of the store may have changed.
  var isComplete = true
  /// The number of the newest commit, as the store numbers its states; `nil` if it is not known.
  var commit: UInt64?

  /// Number of rows.
  fileprivate var count: Int { inserted.count + updated.count + deleted.count }
}

/// Saves of other contexts, kept until the receiving context takes them.
///
/// A save of a store that announces its commits is here before any context can read its rows, and is an arrival only afterwards:
/// a context that takes arrivals over reads a state of the store, and takes everything that this state has.
final class SaveInbox: Sendable {
  fileprivate struct Entry {
    var rows: SavedRows
    /// Whether the save has ended.
    var hasArrived: Bool
    /// Whether the commits are known by number, all of them.
    var isNumbered: Bool
    /// Whether it had arrived at the last call of ``hasArrivals()``.
    var wasSeen = false
  }

  fileprivate struct Contents {
    /// The announced commits of a store are in ascending order.
    var entries: [Entry] = []
    var rowCount = 0
    var arrivalCount = 0
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

  /// Adds saves that have ended.
  ///
  /// - Returns: The closure to call, if any.
  func note(_ rows: [SavedRows]) -> (@Sendable () -> Void)? {
    let isFirst = contents.withLock { contents in
      defer {
        for rows in rows { contents.add(rows, hasArrived: true) }
        contents.fold()
      }
      return contents.arrivalCount == 0
    }
    return isFirst ? arrival : bell?.furtherRing
  }

  /// Adds a save that is about to become visible, and has a number.
  func expect(_ rows: SavedRows) { contents.withLock { $0.add(rows, hasArrived: false) } }

  /// Makes an expected save an arrival.
  ///
  /// - Returns: The closure to call, if any; none if the context has taken the save over.
  func confirm(_ commit: UInt64, of store: Int) -> (@Sendable () -> Void)? {
    let isFirst = contents.withLock { contents -> Bool? in
      guard let place = contents.place(of: commit, store) else { return nil }
      contents.entries[place].hasArrived = true
      contents.arrivalCount += 1
      contents.fold()
      return contents.arrivalCount == 1
    }
    return isFirst.flatMap { $0 ? arrival : bell?.furtherRing }
  }

  /// Removes an expected save, which failed.
  func withdraw(_ commit: UInt64, of store: Int) {
    contents.withLock { contents in
      guard let place = contents.place(of: commit, store) else { return }
      contents.rowCount -= contents.entries.remove(at: place).rows.count
    }
  }

  /// Whether there are saves, arrived or not.
  var hasSaves: Bool { contents.withLock { !$0.entries.isEmpty } }

  /// Whether saves have arrived: any state that is read from now on has them.
  func hasArrivals() -> Bool {
    contents.withLock { contents in
      if contents.arrivalCount == 0 { return false }
      for place in contents.entries.indices where contents.entries[place].hasArrived {
        contents.entries[place].wasSeen = true
      }
      return true
    }
  }

  /// Takes the saves of one store.
  ///
  /// - Parameters:
  ///   - store: The index of the store's connection.
  ///   - commit: The newest commit of the state that the context reads, which was made after the last call of ``hasArrivals()``;
  ///     `nil` takes what has arrived.
  /// - Returns: The saves that the state has, whether they have arrived or not.
  func take(of store: Int, upTo commit: UInt64?) -> [SavedRows] {
    contents.withLock { contents in
      var taken: [SavedRows] = []
      contents.entries.removeAll { entry in
        guard entry.rows.connectionIndex == store, entry.isPart(ofStateAt: commit) else {
          return false
        }
        taken.append(entry.rows)
        contents.rowCount -= entry.rows.count
        if entry.hasArrived { contents.arrivalCount -= 1 }
        return true
      }
      return taken
    }
  }
}

extension SaveInbox.Entry {
  /// Whether the state of a store as of a commit has the save.
  fileprivate func isPart(ofStateAt newest: UInt64?) -> Bool {
    guard let newest else { return hasArrived }
    return (rows.commit ?? 0) <= newest && (isNumbered || wasSeen)
  }
}

extension SaveInbox.Contents {
  fileprivate mutating func add(_ rows: SavedRows, hasArrived: Bool) {
    entries.append(
      SaveInbox.Entry(rows: rows, hasArrived: hasArrived, isNumbered: rows.commit != nil)
    )
    rowCount += rows.count
    if hasArrived { arrivalCount += 1 }
  }

  /// The index of an announced commit that has not ended; `nil` if the context has taken it over.
  fileprivate func place(of commit: UInt64, _ store: Int) -> Int? {
    entries.lastIndex {
      !$0.hasArrived && $0.rows.commit == commit && $0.rows.connectionIndex == store
    }
  }

  /// Makes too many rows, or saves, one entry for each store they are in.
  fileprivate mutating func fold() {
    let isOften = arrivalCount > SaveInbox.saveLimit
    guard (rowCount > SaveInbox.rowLimit || isOften) && arrivalCount > 1 else { return }
    var folded: [SaveInbox.Entry] = []
    var rest: [SaveInbox.Entry] = []
    for entry in entries {
      guard entry.hasArrived else {
        rest.append(entry)
        continue
      }
      let store = entry.rows.connectionIndex
      var whole = SaveInbox.Entry(
        rows: SavedRows(connectionIndex: store, isComplete: false, commit: entry.rows.commit),
        hasArrived: true,
        isNumbered: entry.isNumbered,
        wasSeen: entry.wasSeen
      )
      guard let place = folded.firstIndex(where: { $0.rows.connectionIndex == store }) else {
        folded.append(whole)
        continue
      }
      whole.rows.commit = [folded[place].rows.commit, whole.rows.commit].compactMap(\.self).max()
      whole.isNumbered = whole.isNumbered && folded[place].isNumbered
      whole.wasSeen = whole.wasSeen && folded[place].wasSeen
      folded[place] = whole
    }
    folded.sort { $0.rows.connectionIndex < $1.rows.connectionIndex }
    entries = folded + rest
    arrivalCount = folded.count
    rowCount = rest.reduce(0) { $0 + $1.rows.count }
  }
}

/// The inboxes of a container's contexts.
final class SaveInboxes: Sendable {
  private struct State {
    var inboxes = Registry<SaveInbox>()
    /// The saves that were announced and have not ended: a new inbox begins with them.
    var announced: [SavedRows] = []
  }

  private let state = Lock<State>(State(), .inboxes)
  /// Number of inboxes: most containers have one, or none, and then a save takes no lock.
  private let count = Atomic<Int>(0)

  func add(_ inbox: SaveInbox) {
    state.withLock { state in
      for rows in state.announced { inbox.expect(rows) }
      state.inboxes.append(inbox, as: ObjectIdentifier(inbox))
      count.store(state.inboxes.count, ordering: .releasing)
    }
  }

  func remove(_ inbox: SaveInbox) {
    state.withLock { state in
      state.inboxes.remove(ObjectIdentifier(inbox))
      count.store(state.inboxes.count, ordering: .releasing)
    }
  }

  /// Whether any context but one has an inbox.
  func hasOthers(than sender: SaveInbox?) -> Bool {
    count.load(ordering: .acquiring) > (sender == nil ? 0 : 1)
  }

  // MARK: Announcing

  /// Adds a save that is about to become visible, and has a number, to all inboxes but one.
  func expect(_ rows: SavedRows, from sender: SaveInbox?) {
    state.withLock { state in
      state.announced.append(rows)
      for inbox in state.inboxes where inbox !== sender { inbox.expect(rows) }
    }
  }

  /// Ends the announcement of a save.
  ///
  /// - Returns: The inboxes that were told, but for one.
  func endAnnouncement(
    of commit: UInt64,
    _ store: Int,
    from sender: SaveInbox?
  ) -> [SaveInbox] {
    state.withLock { state in
      state.announced.removeAll { $0.commit == commit && $0.connectionIndex == store }
      return state.inboxes.filter { $0 !== sender }
    }
  }

  // MARK: Posting

  /// Notifies all contexts but the one that saved.
  ///
  /// - Parameters:
  ///   - rows: The saved rows.
  ///   - sender: The context that saved.
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
    guard hasOthers(than: sender) else { return [] }
    let others = state.withLock { $0.inboxes.filter { $0 !== sender } }
    if others.isEmpty { return [] }
    let rows = rows()
    return others.compactMap { $0.note(rows) }
  }
}
