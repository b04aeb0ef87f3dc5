#if PostgreSQL
import Foundation
public import ModelRuntime
import RowFormat

extension PostgresStore {
  /// Makes the changes that `body` writes one transaction of the server.
  ///
  /// It is written exactly once: the transaction begins with a row that bears a name made here. If the connection is
  /// lost, the transaction is sent again on another one, and the row tells whether the first one went through; the
  /// server keeps the two from running side by side.
  ///
  /// - Throws: `DanglingReferences`, `RowClashes`, `RowConflicts`, `MovedReference`, `UnfitAssignments` or `VanishedRow` for an
  ///   obstacle, `SwiftDataError.storeClosed`, or ``PostgresStoreError``; then nothing is written, but for
  ///   ``PostgresStoreError/saveUnresolved(reason:)``.
  public func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? {
    guard savesUnderWay.begin() else { throw closed }
    defer { savesUnderWay.end() }
    let batch = SaveBatch(tables, namespace: configuration.namespace, runTexts)
    try body(batch)
    try batch.finish()
    if batch.isEmpty { return nil }
    let clashes = batch.keys.flatMap(\.clashes)
    if !clashes.isEmpty {
      // Those with stored rows belong to the same answer.
      throw RowClashes(clashes)
    }
    let turn = turns.current
    let transaction = SaveTransaction(
      batch,
      author: editingState.author,
      in: self,
      turn == nil ? .transaction : .turn
    )
    let number = try commit(transaction, in: turn)
    editingState.derivedRows?.updated = transaction.updatedOwners
    if migration == nil {
      bell.scheduleRing()
      historyKeeper.notice(number)
    }
    return DefaultHistoryToken(historyName, number)
  }

  private func commit(_ transaction: SaveTransaction, in turn: Turn?) throws -> Int64 {
    do {
      guard let turn else { return try pool.retrying(transaction.run) }
      return try turn.commit(lookUp: transaction.lookUp, transaction.run)
    } catch let error as PostgresStoreError where transaction.isOutcomeUnknown {
      throw PostgresStoreError.saveUnresolved(reason: "\(error)")
    }
  }
}

// Derived attributes are computed with the save that changes them; see `SaveDerivations`.
extension PostgresStore: DerivingStore {}

/// One save on its way to the server, in as many attempts as it takes.
private struct SaveTransaction {
  /// The transaction that a save belongs to: one of its own, or that of a turn.
  enum Scope { case transaction, turn }

  private let scope: Scope
  private let batch: SaveBatch
  private let tables: TableMap
  private let namespace: String
  private let migration: MigrationTransaction?
  private let announcement: Announcement
  private let locks: [Statement]
  private let idleLimit: Duration
  private let changes: [Statement]
  private let keys: [KeyCheck]
  private let keyStatements: [[Statement]]
  private let questions: [(question: ReferenceCheck.Question, statement: Statement)]
  private let expectations: [(question: ExpectedValues.Question, statement: Statement)]
  private let attempts = Attempts()

  private final class Attempts {
    var count = 0
    /// Whether a commit was sent, and no answer came.
    var isOutcomeUnknown = false
    /// The constraint that kept the last commit from going through.
    var violated: String?
    /// The rows that the last attempt has changed only because of derived attributes.
    var updatedOwners: [RowReference] = []
  }

  var isOutcomeUnknown: Bool { attempts.isOutcomeUnknown }
  var updatedOwners: [RowReference] { attempts.updatedOwners }

  init(_ batch: SaveBatch, author: String?, in store: PostgresStore, _ scope: Scope) {
    self.batch = batch
    self.scope = scope
    tables = store.tables
    namespace = store.configuration.namespace
    migration = store.migration
    announcement = Announcement(
      author: author,
      source: store.source,
      in: store.migration,
      store.announcementTexts
    )
    idleLimit = store.configuration.idleLimit
    changes = batch.statements(from: store.migration?.reserveOrdinals(batch.rowCount) ?? 0)
      .map(\.repeated)
    keys = batch.keys.filter { !$0.isEmpty }
    locks = keys.flatMap { $0.locks() }.map(\.repeated)
    keyStatements = keys.map { $0.statements().map(\.repeated) }
    questions = batch.references.questions(store.tables).map {
      ($0.question, $0.statement.repeated)
    }
    expectations = batch.expected.questions(store.tables)
  }

  /// Finds the save, if it was committed.
  var lookUp: Statement { announcement.lookUp }

  /// The statements that begin an attempt.
  ///
  /// The answer to the second tells the number of the save.
  private var begin: [Statement] {
    let first = scope == .turn ? Turn.savepoint : .begin
    return [first, attempts.count > 1 ? announcement.again : announcement.first] + locks
  }

  /// Limits the server's wait between two round trips.
  private var limit: [Statement] {
    // Nothing tells how long the code of a migration takes.
    migration == nil ? [.limitIdleness(idleLimit)] : []
  }

  /// Runs the transaction.
  ///
  /// - Returns: Its number in the history.
  func run(on connection: Connection) throws -> Int64 {
    attempts.count += 1
    do {
      return try attempt(on: connection)
    } catch PostgresStoreError.server(let error)
      where error.state == SQLState.uniqueViolation
      && error.constraint?.hasSuffix("_unique") == true
    {
      undo(on: connection)
      // Another save has committed the same key since they were compared. Compared again, it is found; or the server takes for
      // equal what the store does not, and would again.
      defer { attempts.violated = error.constraint }
      throw PostgresStoreError.server(
        attempts.violated == error.constraint ? error : error.asTransient
      )
    } catch PostgresStoreError.server(let error) where error.isOfData && batch.assigns {
      // Swift has a result of its own where the server has none: an infinite sum, say.
      undo(on: connection)
      throw UnfitAssignments()
    } catch {
      undo(on: connection)
      throw error
    }
  }

  /// Takes back what an attempt has written.
  private var undo: Statement { scope == .turn ? Turn.undo : .rollback }

  private func undo(on connection: Connection) {
    // A commit that was refused has ended the transaction already, and with it the turn.
    if connection.isUsable, !connection.isIdle { _ = try? connection.run([undo]) }
  }

  private func attempt(on connection: Connection) throws -> Int64 {
    let checks = keyStatements.flatMap(\.self) + questions.map(\.statement)
    let asked = batch.derivations?.questions ?? []
    if attempts.count > 1 || !asked.isEmpty || !expectations.isEmpty {
      // The changes would meet those of an attempt that has gone through, so that is asked for first; so are the
      // contributions of members, and the values that rows are expected to have.
      let opening = begin + limit
      let announced = try connection.run(opening + expectations.map(\.statement) + asked)
      if attempts.count > 1, !announced[1].bool(0, 1) {
        undo(on: connection)
        return announced[1].integer(0, 0)
      }
      attempts.isOutcomeUnknown = false
      let found = announced[opening.count...].prefix(expectations.count)
      try batch.expected.check(zip(expectations.map(\.question), found))
      let updates = totalsUpdates(Array(announced.suffix(asked.count)))
      let results = try connection.run(changes + statements(updates) + checks)
      try check(results[...], updates, on: connection)
      _ = try commit([.commit], on: connection)
      return announced[1].integer(0, 0)
    }
    let updates = totalsUpdates([])
    // A save that nothing can conflict with is one round trip.
    if checks.isEmpty, updates.isEmpty, batch.changes.allSatisfy({ $0.kind == .insert }) {
      if isAlone {
        return try commit([announcement.first] + changes, on: connection)[0].integer(0, 0)
      }
      return try commit(begin + changes + [.commit], on: connection)[1].integer(0, 0)
    }
    let opening = begin + limit
    let results = try connection.run(opening + changes + statements(updates) + checks)
    try check(results[opening.count...], updates, on: connection)
    _ = try commit([.commit], on: connection)
    return results[1].integer(0, 0)
  }

  /// The changes of counts and sums that follow from the changes of members.
  private func totalsUpdates(_ answers: [StatementResult]) -> [TotalsUpdate] {
    guard let plan = tables.derivations, let derivations = batch.derivations else { return [] }
    return derivations.changes(answers)
      .updates(plan, tables, except: derivations.deletedOwners)
  }

  private func statements(_ updates: [TotalsUpdate]) -> [Statement] {
    guard let derivations = batch.derivations, !updates.isEmpty else { return [] }
    let count = updates.reduce(0) { $0 + $1.owners.count }
    var ordinal = migration?.reserveOrdinals(count) ?? batch.rowCount
    return TotalsUpdate.locks(updates)
      + updates.map { update in
        defer { ordinal += update.owners.count }
        return update.statement(ordinal: ordinal, namespace: namespace, of: derivations)
      }
  }

  /// Whether the statements of one round trip are a transaction, without `BEGIN` and `COMMIT`: the server commits what it
  /// has got by the end of a pipeline, and nothing if a statement failed.
  ///
  /// The isolation is then the database's default, so it is for inserts only, which depend on nothing that others do.
  private var isAlone: Bool { scope == .transaction && migration == nil }

  /// Runs the last statements of the transaction, which commit it.
  private func commit(
    _ statements: [Statement],
    on connection: Connection
  ) throws -> [StatementResult] {
    attempts.isOutcomeUnknown = migration == nil
    do {
      let results = try connection.run(statements)
      attempts.isOutcomeUnknown = false
      return results
    } catch {
      // A session that is still usable has reported that the commit was refused.
      attempts.isOutcomeUnknown = migration == nil && !connection.isUsable
      throw error
    }
  }

  /// Looks for conflicts of the save.
  private func check(
    _ results: ArraySlice<StatementResult>,
    _ updates: [TotalsUpdate],
    on connection: Connection
  ) throws {
    var rest = results
    for run in batch.changes {
      let own = rest.popFirst()
      if run.kind != .delete { rest = rest.dropFirst() }
      let count = run.kind == .update && run.columns.isEmpty ? own?.rowCount : own?.affectedCount
      // A row may be there twice; to look for that takes longer than to count.
      guard let count, count < run.rows.count, count < Set(run.rows).count else { continue }
      throw try vanished(of: run, connection)
    }
    rest = rest.dropFirst(TotalsUpdate.locks(updates).count)
    let totals = rest.prefix(updates.count)
    rest = rest.dropFirst(updates.count)
    var clashes: [RowClash] = []
    for (place, key) in keys.enumerated() {
      clashes += key.clashes(in: rest.prefix(keyStatements[place].count))
      rest = rest.dropFirst(keyStatements[place].count)
    }
    let answers = zip(questions, rest).map { (question: $0.question, result: $1) }
    if let dangling = batch.references.dangling(answers) { throw dangling }
    if !clashes.isEmpty { throw RowClashes(clashes) }
    guard let derivations = batch.derivations else { return }
    attempts.updatedOwners = try zip(updates, totals).flatMap {
      try $0.updatedRows($1, of: derivations)
    }
  }

  /// The first row of a run that is gone.
  private func vanished(of run: RowRun, _ connection: Connection) throws -> any Error {
    // Rows that the save deletes are gone here, too: the state before it counts.
    let question = Statement(
      "SELECT k FROM unnest($1::bigint[]) AS k WHERE NOT EXISTS "
        + "(SELECT 1 FROM \(run.table.name) WHERE \(MappedTable.key) = k) ORDER BY 1 LIMIT 1"
    ) { $0.append(run.rows) }
    let found = try connection.run([undo, question])[1]
    guard found.rowCount == 1 else {
      // All are there: one of them cannot hold its new value.
      if run.kind == .assign { return UnfitAssignments() }
      // It came back since: only a copy of a store can do that.
      return VanishedRow(RowReference(rawValue: UInt64(bitPattern: run.rows[0])))
    }
    return VanishedRow(RowReference(rawValue: UInt64(bitPattern: found.integer(0, 0))))
  }
}
#endif
