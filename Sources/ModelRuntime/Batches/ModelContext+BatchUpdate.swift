public import Foundation
import RowFormat

extension ModelContext {
  /// Changes properties of all models that match, and commits the changes, without making objects.
  ///
  ///     try context.batchUpdate(
  ///       Flight.self, where: #Predicate { $0.carrier == "US" },
  ///       .set(\.carrier, to: "AA"), .add(5, to: \.departureDelay))
  ///
  /// The stored rows are tested and changed: unsaved changes of the context do not count, and stay unsaved; of a property
  /// that has one, the object keeps its own value. Objects that are in a context get the new values as they do after a
  /// save of another context. A row that another context changes in the meantime is changed on top of that; what
  /// `.add` and `.change` compute is computed from the value that was read. A batch cannot be undone.
  ///
  /// - Parameters:
  ///   - model: The class; models of subclasses are changed, too.
  ///   - predicate: The condition that the models meet; `nil` matches all.
  ///   - assignments: The new values of properties; each assignment reads the row as it was before.
  ///   - step: After how many models to commit, at least one; all in one commit if `nil`. What was committed before an error stays.
  /// - Returns: How many there were, and their identifiers.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for values that are not unique, or what an assignment throws.
  /// - Complexity: That of finding the rows, and under a microsecond for each; objects are made for a predicate that needs
  ///   them, and for stores that keep no rows.
  @discardableResult
  public func batchUpdate<T: PersistentModel>(
    _ model: T.Type,
    where predicate: Predicate<T>? = nil,
    _ assignments: BatchAssignment<T>...,
    commitEvery step: Int? = nil
  ) throws -> BatchResult {
    try checked {
      var run = try BatchRun(self, of: T.self)
      if assignments.isEmpty { return run.result }
      let step = max(step ?? .max, 1)
      guard run.connection.store.keepsRows else {
        try run.throughObjects(predicate, step) { model, _ in
          for assignment in assignments { try assignment.apply(model) }
        }
        return run.result
      }
      let found = try run.rows(FetchDescriptor(predicate: predicate))
      // Columns of a subclass are its superclass's and more: each class has its own layout.
      for table in found.tables {
        guard let descriptor = run.connection.descriptor(of: table.rows[0]) else { continue }
        let update = try RowUpdate(assignments, of: descriptor, in: run.connection)
        var start = 0
        while start < table.rows.count {
          let end = table.rows.count - start > step ? start + step : table.rows.count
          try update.run(Array(table.rows[start..<end]), &run)
          start = end
        }
      }
      return run.result
    }
  }
}

/// Changes rows of one class.
private struct RowUpdate {
  private let composer: RowComposer
  private let writers: [any BatchWriter]
  private let pairs: BatchPairs?

  init<T>(
    _ assignments: [BatchAssignment<T>],
    of descriptor: ModelDescriptor,
    in connection: StoreConnection
  ) throws {
    writers = try assignments.enumerated().map { position, assignment in
      try assignment.makeWriter(
        BatchTarget(descriptor: descriptor, connection: connection, position: position)
      )
    }
    composer = try RowComposer(descriptor, writers.map(\.property))
    pairs = BatchPairs(among: composer.properties, of: descriptor, in: connection)
  }

  /// Changes some rows in one commit; those that are gone by then are left out.
  func run(_ rows: [RowReference], _ run: inout BatchRun) throws {
    var rows = rows
    var lostTurns = 0
    while !rows.isEmpty {
      do {
        return try commit(rows, &run)
      } catch let lost as LostTurn {
        lostTurns += 1
        if lostTurns > ModelContext.turnLimit { throw lost.cause }
      } catch is VanishedRow {
        let state = run.context.editingState
        let stored = try run.connection.store.rows(at: rows, for: state)
        let left = zip(rows, stored).filter { $1 != nil }.map(\.0)
        guard left.count < rows.count else {
          throw SwiftDataError.modelDeletedElsewhere(nil)
        }
        rows = left
      } catch let clashes as RowClashes {
        throw run.conflict(
          clashes.clashes[0],
          .update,
          try: "a batch does not replace a stored model: delete one of the two first"
        )
      }
    }
  }

  private func commit(_ rows: [RowReference], _ run: inout BatchRun) throws {
    let connection = run.connection
    let state = run.context.editingState
    let ranks = NewRows(connection, composer.descriptor, estimate: 0)
    try run.commit(pairs) { sink in
      composer.encoder.blobs = sink
      defer { composer.encoder.blobs = nil }
      var saved = SavedRows(connectionIndex: connection.index)
      for start in stride(from: 0, to: rows.count, by: 4096) {
        let part = Array(rows[start..<min(start + 4096, rows.count)])
        for row in try connection.store.rows(at: part, for: state) {
          guard let row else { continue }
          let view = unsafe _RowView(
            base: row.base,
            byteCount: row.byteCount,
            layout: composer.descriptor.layout
          )
          composer.begin()
          for writer in writers { try writer.write(view, into: &composer.encoder) }
          let values = try composer.finish()
          try row.withBytes { base in
            try composer.withRow(base, values, rank: ranks.nextRank) {
              sink.update(row.reference, changed: composer.changed, row: $0)
              pairs?.add(row.reference, $0, replacing: base)
            }
          }
          composer.removeAll()
          saved.updated.append(row.reference)
        }
      }
      return saved
    }
  }
}

/// The rows of several classes, each in a table of its own.
struct FoundRows {
  private(set) var tables: [(table: UInt16, rows: [RowReference])] = []

  init(_ rows: [RowReference]) {
    for row in rows {
      // Rows of one table mostly come together.
      if tables.last?.table == row.table {
        tables[tables.count - 1].rows.append(row)
      } else if let place = tables.firstIndex(where: { $0.table == row.table }) {
        tables[place].rows.append(row)
      } else {
        tables.append((row.table, [row]))
      }
    }
  }
}

extension BatchRun {
  /// The stored rows that match; found by objects if the predicate needs them.
  func rows<T>(_ descriptor: FetchDescriptor<T>) throws -> FoundRows {
    if let rows = try connection.store.fetchReferences(descriptor, for: context.editingState) {
      return FoundRows(rows)
    }
    let reader = context.makeSibling()
    return FoundRows(try reader.fetch(descriptor).map { $0._$state.reference })
  }

  /// Does something to the objects of the rows that match, in a context of their own, and saves them.
  ///
  /// - Parameters:
  ///   - predicate: The condition that the rows meet.
  ///   - step: After how many to save.
  ///   - body: Changes an object, or deletes it from the context.
  /// - Throws: What saving throws, or `body`.
  mutating func throughObjects<T: PersistentModel>(
    _ predicate: Predicate<T>?,
    _ step: Int,
    _ body: (T, ModelContext) throws -> Void
  ) throws {
    let worker = context.makeSibling()
    let models = try worker.fetch(FetchDescriptor<T>(predicate: predicate))
    for start in stride(from: 0, to: models.count, by: min(step, max(models.count, 1))) {
      for model in models[start..<(models.count - start > step ? start + step : models.count)] {
        if !model.isDeleted { try body(model, worker) }
      }
      var rows = SavedRows(connectionIndex: connection.index)
      rows.updated = worker.changed.filter { !$0._$state.isDeleted }.map { $0._$state.reference }
      rows.deleted = worker.deleted.map { $0._$state.reference }
      try worker.save()
      // Its siblings have heard of it, but for a context that does not listen.
      context.mergeSavedChanges()
      context.merge([rows])
      record(rows)
    }
  }
}

extension ModelContext {
  /// A context of the same container and author, whose changes are its own.
  func makeSibling() -> ModelContext {
    let sibling = ModelContext(container)
    // A batch overwrites what is stored, whatever the policy.
    sibling.mergePolicy = .lastWriter
    sibling.author = author
    return sibling
  }
}
