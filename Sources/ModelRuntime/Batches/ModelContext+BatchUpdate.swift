public import Foundation
import RowFormat

extension ModelContext {
  /// Changes properties of all models that match, and commits the changes, without making objects.
  ///
  ///     try context.batchUpdate(
  ///       Flight.self, where: #Predicate { $0.carrier == "US" },
  ///       .set(\.carrier, to: "AA"), .add(5, to: \.departureDelay))
  ///
  /// The stored rows are tested and changed: unsaved changes of the context do not count, and stay unsaved; an object keeps
  /// its unsaved value of a property. Objects in a context get the new values as they do after another context's save.
  /// A row that another context changes in the meantime is changed on top of that. If another context saves a value that
  /// `.add` or `.change` has read, all rows of the commit are computed again, for as long as such saves continue. Beside
  /// contexts that write without a pause, commit in steps. A batch cannot be undone.
  ///
  /// - Parameters:
  ///   - model: The class; models of subclasses are changed, too.
  ///   - predicate: The condition that the models meet; `nil` matches all.
  ///   - assignments: The new values of properties; each assignment reads the row as it was before.
  ///   - step: The number of models per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The number of updated models, and their identifiers.
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
      try BatchRun.inEachStore(of: self, where: predicate) { run in
        if assignments.isEmpty { return }
        try run.update(where: predicate, assignments, commitEvery: max(step ?? .max, 1))
      }
    }
  }
}

extension BatchRun {
  fileprivate mutating func update<T: PersistentModel>(
    where predicate: Predicate<T>?,
    _ assignments: [BatchAssignment<T>],
    commitEvery step: Int
  ) throws {
    guard connection.store.keepsRows else {
      return try throughObjects(predicate, step) { model, _ in
        for assignment in assignments { try assignment.apply(model) }
      }
    }
    // Columns of a subclass are its superclass's and more: each class has its own layout.
    var commit = UpdateCommit()
    for table in try rows(FetchDescriptor(predicate: predicate)).tables {
      guard let descriptor = connection.descriptor(of: table.rows[0]) else { continue }
      let update = try RowUpdate(assignments, of: descriptor, in: connection)
      var rows = table.rows[...]
      while !rows.isEmpty {
        let some = rows.prefix(step - commit.rowCount)
        rows = rows[some.endIndex...]
        commit.append(update, Array(some))
        if commit.rowCount == step || update.isOneClassOnly { try commit.run(&self) }
      }
    }
    try commit.run(&self)
  }
}

/// Updates rows of one class.
private struct RowUpdate {
  private let composer: RowComposer
  private let writers: [any BatchWriter]
  fileprivate let pairs: BatchPairs?
  /// The same changes as the writers', if no value has to be decoded for them.
  private let changes: [FixedChange]?
  /// The numbers that are added, by assignment.
  private let additions: [NumberAddition?]
  /// Whether the changes can be told without the rows.
  private let isUniform: Bool
  /// The columns written from values that were read: concurrent changes of them must not be lost.
  ///
  /// Ascending, as a row takes them, and without duplicates, since columns written without a value are not assigned.
  private let readColumns: [Int]

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
    composer = try RowComposer(descriptor, writers.map(\.property), for: .changes)
    pairs = BatchPairs(among: composer.properties, of: descriptor, in: connection)
    additions = assignments.map(\.addition)
    changes = try Self.fixedChanges(additions, writers, composer)
    isUniform =
      composer.columnsWrittenAsRead.isEmpty
      && zip(additions, writers).allSatisfy { addition, writer in
        !writer.property.isRelationship && (addition != nil || writer.isConstant)
      }
    readColumns =
      (composer.columnsWrittenAsRead + writers.filter { !$0.isConstant }.map(\.property.ordinal))
      .sorted()
  }

  /// Returns the changes of each row's columns, if all have a fixed width and get constants or sums.
  private static func fixedChanges(
    _ additions: [NumberAddition?],
    _ writers: [any BatchWriter],
    _ composer: RowComposer
  ) throws -> [FixedChange]? {
    let layout = composer.descriptor.layout
    let isFixed = zip(additions, writers).allSatisfy { addition, writer in
      !writer.property.columnType.isVariable && (addition != nil || writer.isConstant)
    }
    guard isFixed, !composer.writesRanks else { return nil }
    let values = try constants(of: writers, in: composer)
    defer { composer.removeAll() }
    var changes: [FixedChange] = []
    for (position, (addition, writer)) in zip(additions, writers).enumerated() {
      let column = writer.property.ordinal
      if let addition {
        let nilStays = writer.property.isOptional
        changes.append(FixedChange(column, of: layout, adding: addition, nilStays: nilStays))
      } else {
        guard let change = composer.constant(position, of: values) else { return nil }
        changes.append(change)
      }
    }
    return changes
  }

  /// Writes a row of values that has those of the constants only.
  private static func constants(
    of writers: [any BatchWriter],
    in composer: RowComposer
  ) throws -> Range<Int> {
    composer.begin()
    for writer in writers where writer.isConstant {
      // Constants read nothing of the row.
      let none = unsafe _RowView(base: nil, byteCount: 0, layout: composer.descriptor.layout)
      try writer.write(none, into: &composer.encoder)
    }
    return try composer.finish()
  }

  /// Whether rows of another class cannot be changed in the same commit: the other ends of their relationships might be the
  /// same rows.
  var isOneClassOnly: Bool { pairs != nil }

  /// Whether new rows depend on the old ones.
  fileprivate var readsRows: Bool { !readColumns.isEmpty }

  /// Has a store change some rows without reading them.
  ///
  /// - Returns: `false` if the rows must be written.
  /// - Throws: The error of encoding a constant.
  fileprivate func assign(_ rows: [RowReference], in sink: any RowChangeSink) throws -> Bool {
    guard isUniform, let sink = sink as? any UniformUpdating else { return false }
    var added: [Int: (amount: NumberAddition, nilStays: Bool)] = [:]
    for case (let amount?, let writer) in zip(additions, writers) {
      added[writer.property.ordinal] = (amount, writer.property.isOptional)
    }
    var empty = RowWriter(capacity: 256)
    empty.begin(composer.descriptor.layout)
    let base = empty.finish()
    let constants = try Self.constants(of: writers, in: composer)
    defer { composer.removeAll() }
    let values = try composer.withRow(empty.bytes.extracting(base), constants, rank: { 0 }) {
      unsafe $0.withUnsafeBytes { unsafe Array($0) }
    }
    return sink.update(
      rows,
      UniformChange(changed: composer.changed, additions: added, values: values)
    )
  }

  /// Writes the new versions of some rows.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - sink: The commit.
  ///   - expecting: Receives the values read, row by row; `nil` if nobody can have changed them.
  ///   - saved: Receives the names of the rows.
  ///   - run: The batch.
  /// - Throws: An error of an assignment, or of reading.
  fileprivate func write(
    _ rows: [RowReference],
    to sink: any RowChangeSink,
    expecting: (any ValueExpecting)?,
    _ saved: inout SavedRows,
    in run: borrowing BatchRun
  ) throws {
    let ranks = NewRows(run.connection, composer.descriptor, estimate: 0)
    composer.encoder.blobs = sink
    defer { composer.encoder.blobs = nil }
    var rest = rows
    if let changes, pairs == nil, expecting == nil || !readsRows,
      let sink = sink as? any RowRevising
    {
      rest = try sink.revise(rows, changed: composer.changed) { reference, row in
        guard changes.apply(to: &row, composer.descriptor.layout) else { return false }
        saved.updated.append(reference)
        return true
      }
    }
    let state = run.context.editingState
    try run.connection.store.visitRows(at: rest, for: state) { reference, base in
      let isChanged = changes.map { changes in
        composer.withRow(base, changing: changes) {
          sink.update(reference, changed: composer.changed, row: $0)
          pairs?.add(reference, $0, replacing: base)
        }
      }
      // The assignment throws the error for a sum that its type cannot hold.
      if isChanged != true { try write(reference, base, to: sink, ranks) }
      if let expecting, readsRows { expect(reference, base, in: expecting) }
      saved.updated.append(reference)
    }
  }

  /// Tells a sink only the values that were read of a row: there may be many rows.
  private func expect(
    _ reference: RowReference,
    _ base: RawSpan,
    in sink: any ValueExpecting
  ) {
    let layout = composer.descriptor.layout
    var writer = RowWriter(capacity: 256)
    writer.begin(layout)
    for column in readColumns { writer.copy(column, from: base, column: column, layout: layout) }
    let range = writer.finish()
    let read = unsafe writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
    sink.expectValues(of: reference, readColumns, from: read)
  }

  /// Writes a row whose new values are computed from decoded values.
  private func write(
    _ reference: RowReference,
    _ base: RawSpan,
    to sink: any RowChangeSink,
    _ ranks: NewRows
  ) throws {
    let layout = composer.descriptor.layout
    composer.begin()
    try unsafe base.withUnsafeBytes { bytes in
      let view = unsafe _RowView(base: bytes.baseAddress, byteCount: bytes.count, layout: layout)
      for writer in writers { try writer.write(view, into: &composer.encoder) }
    }
    let values = try composer.finish()
    try composer.withRow(base, values, rank: ranks.nextRank) {
      sink.update(reference, changed: composer.changed, row: $0)
      pairs?.add(reference, $0, replacing: base)
    }
    composer.removeAll()
  }
}

/// The rows that one commit changes, class by class.
private struct UpdateCommit {
  private var parts: [(update: RowUpdate, rows: [RowReference])] = []
  private(set) var rowCount = 0
  /// The form in which the store gets the changes.
  private var form = Form.assignments
  /// Whether other commits came between: from then on the values read are compared with the values replaced.
  private var comparesRows = false

  private enum Form {
    /// Assignments, where that is enough.
    case assignments
    case rows
  }

  private var readsRows: Bool { parts.contains(where: \.update.readsRows) }

  mutating func append(_ update: RowUpdate, _ rows: [RowReference]) {
    parts.append((update, rows))
    rowCount += rows.count
  }

  /// Updates the rows that still exist, and forgets them.
  mutating func run(_ run: inout BatchRun) throws {
    defer { self = UpdateCommit() }
    var patience: (() -> Bool)?
    var strangers: Set<RowReference> = []
    var attempts = Attempts(in: run.connection)
    defer { attempts.end() }
    while rowCount > 0 {
      let former = comparesRows || !readsRows ? nil : run.connection.changeCount
      do {
        return try commit(&run)
      } catch let lost as LostTurn {
        let mayGoOn = patience ?? run.connection.makeTurnPatience()
        patience = mayGoOn
        guard mayGoOn() else { throw lost.cause }
      } catch is UnfitAssignments where form == .assignments {
        form = .rows
      } catch is OvertakenSave {
        comparesRows = true
      } catch is RowConflicts {
        // Others have changed values that some rows were computed from: all are read and computed again.
        comparesRows = true
      } catch let vanished as VanishedRow {
        let before = rowCount
        try drop(vanished, run)
        // A row that was only to be written along is looked up once more.
        guard rowCount < before || strangers.insert(vanished.reference).inserted else {
          throw run.error(vanished)
        }
      } catch  where former != run.connection.changeCount && former != nil && error.isOfValues {
        // The value may be invalid only because of older stored values.
        comparesRows = true
      } catch let clashes as RowClashes {
        throw run.conflict(
          clashes.clashes[0],
          .update,
          try: "a batch does not replace a stored model: delete one of the two first"
        )
      }
      attempts.next()
    }
  }

  private func commit(_ run: inout BatchRun) throws {
    let current = run
    try run.commit(parts.first?.update.pairs) { sink in
      var saved = SavedRows(connectionIndex: current.connection.index)
      saved.updated.reserveCapacity(rowCount)
      let expecting = expectReads(of: sink, in: current.connection)
      for (update, rows) in parts {
        if form == .assignments, try update.assign(rows, in: sink) {
          saved.updated += rows
          continue
        }
        try update.write(rows, to: sink, expecting: expecting, &saved, in: current)
      }
      return saved
    }
  }

  /// Makes the commit fail if others change its input; called before anything is read.
  ///
  /// Mostly nobody commits in between, which the store detects by comparing one number. Only a batch that was overtaken has
  /// its rows compared.
  ///
  /// - Returns: A closure to call for each row that is read; `nil` if none is needed.
  private func expectReads(
    of sink: any RowChangeSink,
    in connection: StoreConnection
  ) -> (any ValueExpecting)? {
    guard readsRows else { return nil }
    if !comparesRows, let sink = sink as? any CommitExpecting, let count = connection.changeCount {
      sink.expectFirstCommit(after: count)
      return nil
    }
    return sink as? any ValueExpecting
  }

  /// Leaves out a deleted row, and others deleted since.
  private mutating func drop(_ vanished: VanishedRow, _ run: BatchRun) throws {
    for place in parts.indices {
      parts[place].rows = try run.rows(leftOf: parts[place].rows, after: vanished)
    }
    rowCount = parts.reduce(0) { $0 + $1.rows.count }
  }
}

/// Rows of several classes, each class in its own table, in ascending order.
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
    for place in tables.indices where !tables[place].rows.isAscending {
      tables[place].rows.sort()
    }
  }
}

extension Error {
  /// Whether the error refuses computed values, which other input might not have produced.
  fileprivate var isOfValues: Bool {
    self is RowClashes || (self as? SwiftDataError) == .aggregateOverflow
  }
}

extension [RowReference] {
  fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension BatchRun {
  /// Returns the stored rows that match, through objects if the predicate needs them.
  func rows<T>(_ descriptor: FetchDescriptor<T>) throws -> FoundRows {
    if let rows = try connection.store.fetchReferences(descriptor, for: context.editingState) {
      return FoundRows(rows)
    }
    let reader = context.makeSibling()
    return FoundRows(try reader.models(descriptor, in: connection).map { $0._$state.reference })
  }

  /// Changes the objects of the rows that match, in a context of their own, and saves them.
  ///
  /// - Parameters:
  ///   - predicate: The condition that the rows meet.
  ///   - step: The number of objects per save.
  ///   - body: Changes an object, or deletes it from the context.
  /// - Throws: An error of saving, or of `body`.
  mutating func throughObjects<T: PersistentModel>(
    _ predicate: Predicate<T>?,
    _ step: Int,
    _ body: (T, ModelContext) throws -> Void
  ) throws {
    let worker = context.makeSibling()
    let models = try worker.models(FetchDescriptor<T>(predicate: predicate), in: connection)
    for start in stride(from: 0, to: models.count, by: min(step, max(models.count, 1))) {
      for model in models[start..<(models.count - start > step ? start + step : models.count)] {
        if !model.isDeleted { try body(model, worker) }
      }
      var rows = SavedRows(connectionIndex: connection.index)
      rows.updated = worker.changed.filter { !$0._$state.isDeleted }.map { $0._$state.reference }
      rows.deleted = worker.deleted.map { $0._$state.reference }
      try worker.save()
      // Other contexts were notified by the sibling's save, unless they do not listen.
      context.mergeSavedChanges()
      context.merge([rows])
      record(rows)
    }
  }
}

extension ModelContext {
  /// Returns the models of one store that match.
  fileprivate func models<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    in connection: StoreConnection
  ) throws -> [T] {
    let models = try fetch(descriptor)
    if coordinator.severalConnections(for: .of(T.self)) == nil { return models }
    return models.filter { $0._$state.connection === connection }
  }

  /// Returns a context of the same container and author, with changes of its own.
  func makeSibling() -> ModelContext {
    let sibling = ModelContext(container)
    // A batch overwrites stored values, whatever the policy.
    sibling.mergePolicy = .lastWriter
    sibling.author = author
    sibling.noticeSender = self
    return sibling
  }
}
