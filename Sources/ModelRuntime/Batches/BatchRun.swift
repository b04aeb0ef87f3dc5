import Foundation
import RowFormat

/// A batch under way: a context, a store that keeps rows, and the rows committed so far.
///
/// Its commits are saves like any other, but without objects: history lists them, `didSave` names them, other contexts
/// and observers are notified, and so is the context itself, whose unsaved changes stay as they are.
struct BatchRun {
  let context: ModelContext
  let connection: StoreConnection
  let descriptor: ModelDescriptor
  private var done: SavedRows
  private var commitCount = 0

  /// - Parameters:
  ///   - context: The context.
  ///   - type: The class of the rows.
  ///   - store: The store; if `nil`, the one that new models of the class are saved to.
  /// - Throws: ``SwiftDataError`` for a class that no store keeps, or a read-only store.
  init(
    _ context: ModelContext,
    of type: any PersistentModel.Type,
    in store: StoreConnection? = nil
  ) throws {
    try context.throwDeferredError()
    context.mergeSavedChanges()
    self.context = context
    connection = try store ?? context.connection(for: type)
    descriptor = context.coordinator.descriptor(of: type)
    done = SavedRows(connectionIndex: connection.index)
    guard connection.allowsSave else {
      throw SwiftDataError.saveNotAllowed(to: connection)
    }
  }

  var result: BatchResult { BatchResult(done, in: connection, commitCount: commitCount) }

  /// Changes the models that match, store by store; a read-only store takes part if it has any.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - predicate: The condition that the models meet; `nil` matches all.
  ///   - body: Changes those of one store.
  /// - Returns: The results of all stores.
  /// - Throws: As ``init(_:of:in:)``, before any store is changed; or the error of `body`.
  static func inEachStore<T: PersistentModel>(
    of context: ModelContext,
    where predicate: Predicate<T>?,
    _ body: (inout BatchRun) throws -> Void
  ) throws -> BatchResult {
    guard let several = context.coordinator.severalConnections(for: .of(T.self)) else {
      var run = try BatchRun(context, of: T.self)
      try body(&run)
      return run.result
    }
    let fetch = FetchDescriptor<T>(predicate: predicate)
    let runs = try several.compactMap { connection in
      if !connection.allowsSave,
        try connection.store.fetchCount(fetch, for: context.editingState) == 0
      {
        return nil as BatchRun?
      }
      return try BatchRun(context, of: T.self, in: connection)
    }
    var result = BatchResult()
    for var run in runs {
      try body(&run)
      result.append(run.result)
    }
    return result
  }

  /// Commits the rows that a closure writes, and notifies observers.
  ///
  /// - Parameters:
  ///   - pairs: The one-to-one relationships that the batch writes an end of; nobody else writes such ends until the
  ///     commit is made.
  ///   - body: Writes rows, and returns their names.
  /// - Throws: `RowClashes`, `VanishedRow` and `LostTurn` for the caller to settle; ``SwiftDataError`` for a
  ///   relationship to a missing row; or an error of the store. Then nothing of the commit is stored.
  mutating func commit(
    _ pairs: BatchPairs? = nil,
    _ body: (any RowChangeSink) throws -> SavedRows
  ) throws {
    SaveNotifications.postWillSave(of: context)
    var rows = SavedRows(connectionIndex: connection.index)
    let token: (any HistoryToken)?
    let derived = connection.makeDerivedRows()
    var editing = context.editingState
    editing.derivedRows = derived
    editing.hasLockedEnds = pairs != nil
    let announcement = context.coordinator.announcement(of: connection, from: context.inbox)
    editing.announcement = announcement
    do {
      token = try connection.withLockedEnds(if: pairs != nil) {
        try editing.announced {
          try connection.store.writeRows(for: editing) { sink in
            pairs?.begin()
            rows = try body(sink)
            try pairs?.settle(in: sink, for: editing)
          }
        }
      }
    } catch let dangling as DanglingReferences where dangling.toDeletedRows.isEmpty {
      throw SwiftDataError.referenceToNothing(dangling, in: connection)
    }
    if rows.isEmpty { return }
    commitCount += 1
    done.append(rows)
    // Derived rows are announced, but are no part of the result.
    if let derived { rows.updated += derived.updated }
    if let pairs { rows.updated += pairs.updated }
    context.announce(rows, token, announcement, in: connection)
  }

  /// Records the rows saved through objects.
  mutating func record(_ rows: SavedRows) {
    if rows.isEmpty { return }
    commitCount += 1
    done.append(rows)
  }

  /// Returns the rows of a commit that still exist, after it met a deleted row.
  ///
  /// The deleted row is left out even if the store still returns it: a read may not see all commits.
  func rows(leftOf rows: [RowReference], after vanished: VanishedRow) throws -> [RowReference] {
    let stored = try connection.store.rows(at: rows, for: context.editingState)
    return zip(rows, stored).filter { $1 != nil && $0 != vanished.reference }.map(\.0)
  }

  /// The error for a deleted row that had to exist.
  func error(_ vanished: VanishedRow) -> SwiftDataError {
    .modelDeletedElsewhere(connection.identifier(of: vanished.reference), vanished)
  }

  /// The error for values that are not unique.
  func conflict(_ clash: RowClash, _ reason: UniquenessConflict.Reason, try remedy: String)
    -> SwiftDataError
  {
    func name(_ row: RowReference) -> PersistentIdentifier {
      connection.identifier(of: row, entityName: descriptor.entityName)
    }
    let conflict = UniquenessConflict(
      entityName: clash.constraint.owner.entityName,
      properties: clash.constraint.properties,
      model: name(clash.row),
      holder: name(clash.holder),
      reason: reason
    )
    return SwiftDataError.modelValidationFailure.explained(
      "a row of the batch has the \(conflict.properties.joined(separator: ", ")) of \(conflict.holder), and "
        + "\(conflict.entityName) is unique by it; \(remedy)",
      entity: descriptor.entityName,
      property: conflict.properties.first,
      causedBy: conflict
    )
  }
}

extension ModelContext {
  /// Announces a commit that was made without objects, to the context's own objects first.
  fileprivate func announce(
    _ rows: SavedRows,
    _ token: (any HistoryToken)?,
    _ announcement: CommitAnnouncement?,
    in connection: StoreConnection
  ) {
    merge([rows])
    coordinator.post(rows, of: connection, from: inbox, announcement)
    coordinator.saveListeners.tell(rows, token, in: connection, author: author)
    coordinator.tellOthers(of: connection) {
      $0.tell(rows, token, in: connection, author: author)
    }
    SaveNotifications.postDidSave(of: self) {
      var notice = SaveNotice()
      notice.add(rows, token, in: connection)
      return notice
    }
  }
}
