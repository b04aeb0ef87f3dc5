#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

extension StoreCatalogue {
  /// Takes the steps of a plan, one after the other, within the transaction of the opening.
  ///
  /// - Throws: `SwiftDataError.loadIssueModelContainer`, naming the stage, with what its code or the server threw; or a
  ///   ``PostgresStoreError`` after which all of it may be tried again.
  mutating func take(_ steps: [MigrationStep], _ request: Request) throws {
    let transaction = MigrationTransaction(connection)
    if steps.contains(where: \.runsCode) { try keepOthersOut() }
    for step in steps { try take(step, in: transaction, request) }
  }

  /// Has saves of programs that are open with older models wait until the migration ends.
  ///
  /// The rows that the code of a stage has read stay as they are. Others can still read until tables are altered.
  private func keepOthersOut() throws {
    let tables = numbers.keys.filter { columns[$0] != nil }.sorted().map(name)
    var statements = [
      Turn.lock(identifier),
      // Nothing tells how long the code takes between two statements.
      Statement("SET LOCAL idle_in_transaction_session_timeout = 0"),
    ]
    if !tables.isEmpty {
      statements.append(
        Statement("LOCK TABLE \(tables.joined(separator: ", ")) IN EXCLUSIVE MODE")
      )
    }
    _ = try connection.run(statements)
  }

  /// Takes one step: the app's code, the change of the tables, the app's code, and a check of the result.
  private mutating func take(
    _ step: MigrationStep,
    in transaction: MigrationTransaction,
    _ request: Request
  ) throws {
    try naming(step, "the tables cannot be brought to the version before it") {
      try $0.bring(to: step.from)
    }
    try run(in: transaction, at: step.from, of: step.wholeFrom, request, step.runWillMigrate)
    let known = incomplete.count
    try naming(step, "a change cannot be inferred") {
      try $0.removeRows(of: step)
      try $0.bringTables(
        of: step.to,
        since: step.from,
        typeChange: step.isCustom ? .replaced : .refused
      )
    }
    try run(in: transaction, at: step.to, of: step.wholeTo, request, step.runDidMigrate)
    try naming(step, "its result breaks a rule of the new version") {
      try $0.addConstraints(of: step.to, since: step.from)
      for (entity, column) in $0.incomplete[known...] {
        try $0.checkPresence(of: column, in: entity)
      }
    }
  }

  /// Runs the code of a stage, to which the store is open with the models of one of its versions.
  private func run(
    in transaction: MigrationTransaction,
    at schema: Schema,
    of version: Schema,
    _ request: Request,
    _ code: (_ open: () throws -> ModelContainer) throws -> Void
  ) throws {
    var store: (any DataStore & DataStoreClosing)?
    defer { try? store?.close() }
    try transaction.lend {
      try code {
        let tables = TableMap(try tables(of: schema), schema)
        // The tables have changed since they were computed last, or were written by models that derive nothing.
        try computeDerivedAttributes(of: tables)
        let opened = request.openVersion(
          OpenedVersion(
            transaction: transaction,
            schema: schema,
            identifier: identifier,
            tables: tables
          )
        )
        store = opened
        var stores: [(any DataStore, Schema)] = [(opened, schema)]
        // The code may also ask for models that other stores of the container keep: here there are none of them.
        let others = version.modelTypes.filter { !schema.contains($0) }
        if !others.isEmpty {
          let rest = Schema(others, of: version)
          stores.append((StageMemory(rest), rest))
        }
        return try ModelContainer(
          migrating: stores,
          at: version,
          uniquenessPolicy: request.uniquenessPolicy
        )
      }
    }
  }

  /// Does a part of a step.
  ///
  /// - Throws: An error that names the step, unless the server may accept the whole transaction if it is tried again.
  private mutating func naming(
    _ step: MigrationStep,
    _ what: String,
    _ body: (inout StoreCatalogue) throws -> Void
  ) throws {
    do {
      try body(&self)
    } catch let error as PostgresStoreError where error.mayPass {
      throw error
    } catch {
      throw step.failure(what, error)
    }
  }

  private func checkPresence(of column: String, in entity: String) throws {
    let missing = Statement(
      "SELECT \(MappedTable.key) FROM \(name(entity)) WHERE \(column.quotedName) IS NULL ORDER BY 1 LIMIT 1"
    )
    let result = try connection.run([missing])[0]
    guard result.rowCount == 1 else { return }
    throw PostgresStoreError.missingValue(
      entity: entity,
      property: column,
      key: RowReference(rawValue: UInt64(bitPattern: result.integer(0, 0))).key
    )
  }
}

extension PostgresStoreError {
  /// Whether the same may succeed if it is tried again, in another session perhaps.
  fileprivate var mayPass: Bool {
    switch self {
    case .connectionLost: true
    case .server(let error): error.isTransient
    default: false
    }
  }
}
#endif
