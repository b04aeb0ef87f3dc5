import RowFormat

extension ModelContext {
  /// Inserts rows, and updates the stored models that have their unique values already, without making objects.
  ///
  ///     let result = try context.batchUpsert(
  ///       Airport.self, \.code, \.name, \.city, rows: airports.map { ($0.code, $0.name, $0.city) })
  ///     print(result.insertedCount, "new,", result.updatedCount, "updated")
  ///
  /// The constraints of the class decide, `.unique` or `#Unique`: one must be among the properties. A model that is already
  /// there keeps its identifier, and the properties that are not named; a new one gets their defaults. Of several rows
  /// with one unique value the last one counts. For the rest see ``batchInsert(_:_:rows:commitEvery:)``.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - properties: Stored properties.
  ///   - rows: A tuple of values for each row. The rows of one commit are in memory together.
  ///   - step: The number of rows per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The numbers of inserted and updated models, and their identifiers.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a row with values of two stored models, or of one of another
  ///   class, for a class without a constraint among the properties, or a property that must be named;
  ///   ``DataStoreError/unsupportedFeature`` for a store that keeps no rows.
  @discardableResult
  public func batchUpsert<T: PersistentModel, each Value, Rows: Sequence>(
    _ model: T.Type,
    _ properties: repeat KeyPath<T, each Value>,
    rows: Rows,
    commitEvery step: Int? = nil
  ) throws -> BatchResult where Rows.Element == (repeat each Value) {
    let run = try BatchRun(self, of: T.self)
    var columns = try BatchColumns(run)
    repeat try columns.add(each properties)
    let source = TupleRows(rows: rows.makeIterator(), writers: columns.writers)
    try checkConstraint(columns.properties, of: run.descriptor, in: run.connection)
    return try checked {
      try upsert(
        source,
        columns.composer(),
        run,
        max(step ?? .max, 1),
        rows.underestimatedCount
      )
    }
  }

  private func checkConstraint(
    _ properties: [ModelProperty],
    of descriptor: ModelDescriptor,
    in connection: StoreConnection
  ) throws {
    let columns = Set(properties.map(\.ordinal))
    let hasKey = UniquenessConstraint.all(in: connection.schema).contains {
      $0.covers(descriptor) && $0.columns.allSatisfy(columns.contains)
    }
    guard hasKey else {
      throw SwiftDataError.modelValidationFailure.explained(
        "\(descriptor.entityName) is unique by nothing that is among the properties of the batch: name the properties "
          + "of a constraint, or use batchInsert",
        entity: descriptor.entityName
      )
    }
  }

  private func upsert<Source: BatchSource>(
    _ source: Source,
    _ composer: RowComposer,
    _ started: BatchRun,
    _ step: Int,
    _ estimate: Int
  ) throws -> BatchResult {
    var (source, run) = (source, started)
    try composer.checkIsComplete()
    let keys = NewRows(run.connection, run.descriptor, estimate: estimate)
    let pairs = BatchPairs(among: composer.properties, of: run.descriptor, in: run.connection)
    var isDone = false
    while !isDone {
      var batch = UpsertBatch(UpsertKey(composer, in: run.connection))
      isDone = try source.write(upTo: step, to: composer) { values in
        batch.append(values, of: composer, as: try keys.next())
      }
      try batch.commit(composer, keys, pairs, &run)
      composer.removeAll()
    }
    return run.result
  }
}

/// The constraint that distinguishes the models of a class, if there is only one.
private struct UpsertKey {
  let constraint: UniquenessConstraint
  /// Its columns in a row of values.
  let positions: [Int]

  /// - Returns: `nil` if there are several constraints: the store then reports the rows of a commit that clash.
  init?(_ composer: RowComposer, in connection: StoreConnection) {
    let constraints = UniquenessConstraint.all(in: connection.schema).filter {
      $0.covers(composer.descriptor)
    }
    guard constraints.count == 1, let positions = composer.positions(of: constraints[0].columns)
    else { return nil }
    constraint = constraints[0]
    self.positions = positions
  }
}

/// The rows of one commit, and what becomes of each.
///
/// Stored rows to update are looked up before the batch's rows are written. A row that gets its key in between clashes with
/// the commit, which is then repeated.
private struct UpsertBatch {
  private struct Row {
    let values: Range<Int>
    /// The reference of the row if it is new.
    let reference: RowReference
    /// The stored row that it updates.
    var target: RowReference?
    /// Whether a later row has its unique value.
    var isSuperseded = false
  }

  private var rows: [Row] = []
  private var places: [RowReference: Int] = [:]
  private let key: UpsertKey?
  private var keys = KeyList()
  /// The last row with each key, by the key's number.
  private var owners: [Int] = []
  private var isLookedUp = false

  init(_ key: UpsertKey?) { self.key = key }

  mutating func append(
    _ values: Range<Int>,
    of composer: RowComposer,
    as reference: RowReference
  ) {
    let place = rows.count
    rows.append(Row(values: values, reference: reference))
    guard let key else { return }
    guard let number = composer.appendKey(key.positions, of: values, to: &keys) else { return }
    if number == owners.count {
      owners.append(place)
    } else {
      rows[owners[number]].isSuperseded = true
      owners[number] = place
    }
  }

  /// Finds the stored rows that already have the keys of rows.
  private mutating func lookUp(in store: any StoreAdapter) throws {
    guard !isLookedUp, let key, keys.count > 0 else { return }
    isLookedUp = true
    guard let holders = try store.rows(having: keys, of: key.constraint) else { return }
    for (place, holder) in zip(owners, holders) {
      // A model of another class cannot be updated as one of this class; the commit reports it.
      let isOne = holder != .none && holder.table == rows[place].reference.table
      rows[place].target = isOne ? holder : nil
    }
  }

  mutating func commit(
    _ composer: RowComposer,
    _ keys: NewRows,
    _ pairs: BatchPairs?,
    _ run: inout BatchRun
  ) throws {
    var patience: (() -> Bool)?
    while true {
      do {
        return try write(composer, keys, pairs, &run)
      } catch let clashes as RowClashes {
        try settle(clashes.clashes, run)
      } catch let lost as LostTurn {
        let mayGoOn = patience ?? run.connection.makeTurnPatience()
        patience = mayGoOn
        guard mayGoOn() else { throw lost.cause }
      } catch is VanishedRow {
        // A row to update is gone: it is looked up again, and inserted if nothing is found.
        forgetTargets()
      } catch is RowConflicts {
        // Others have changed rows to be written along: all are looked up and read again.
        forgetTargets()
      }
    }
  }

  private mutating func forgetTargets() {
    for place in rows.indices { rows[place].target = nil }
    isLookedUp = false
  }

  private mutating func write(
    _ composer: RowComposer,
    _ keys: NewRows,
    _ pairs: BatchPairs?,
    _ run: inout BatchRun
  ) throws {
    let connection = run.connection
    let state = run.context.editingState
    // The old row is needed only for the parts of it that stay.
    let readsRows = pairs != nil || !composer.isOfAllColumns || composer.writesRanks
    let writtenAsRead = composer.columnsWrittenAsRead
    try run.commit(pairs) { sink in
      composer.blobs = sink
      defer { composer.blobs = nil }
      let expecting = writtenAsRead.isEmpty ? nil : sink as? any ValueExpecting
      try lookUp(in: connection.store)
      let targets = readsRows ? rows.compactMap { $0.isSuperseded ? nil : $0.target } : []
      let stored = try connection.store.rows(at: targets, for: state)
      var saved = SavedRows(connectionIndex: connection.index)
      var next = stored.makeIterator()
      for row in rows where !row.isSuperseded {
        guard let target = row.target else {
          try composer.withNewRow(row.values, rank: keys.nextRank) {
            sink.insert(row.reference, row: $0)
            pairs?.add(row.reference, $0)
          }
          saved.inserted.append(row.reference)
          continue
        }
        if readsRows {
          guard let base = next.next() ?? nil else { throw VanishedRow(target) }
          try base.withBytes { former in
            try composer.withRow(former, row.values, rank: keys.nextRank) {
              sink.update(target, changed: composer.changed, row: $0)
              pairs?.add(target, $0, replacing: former)
            }
            expecting?.expectValues(of: target, writtenAsRead, from: MergeBase(former).bytes)
          }
        } else {
          try composer.withNewRow(row.values, rank: keys.nextRank) {
            sink.update(target, changed: composer.changed, row: $0)
          }
        }
        saved.updated.append(target)
      }
      return saved
    }
  }

  /// Turns rows whose values stored models have into updates, and drops rows whose values later rows have.
  private mutating func settle(_ clashes: [RowClash], _ run: BatchRun) throws {
    if places.isEmpty {
      for place in rows.indices { places[rows[place].reference] = place }
    }
    /// The last row with the value of another row of the batch, by that row.
    var last: [Int: Int] = [:]
    /// The last row that updates a stored row.
    var updating: [RowReference: Int] = [:]
    for place in rows.indices where !rows[place].isSuperseded {
      if let target = rows[place].target { updating[target] = place }
    }
    var hasSettled = false
    for clash in clashes {
      if let place = places[clash.row], rows[place].target == clash.holder { continue }
      guard let place = places[clash.row], rows[place].target == nil else {
        throw run.conflict(
          clash,
          .severalModels,
          try: "by another constraint it is another stored model; a batch cannot update both"
        )
      }
      if rows[place].isSuperseded { continue }
      hasSettled = true
      if let earlier = places[clash.holder] {
        let former = last[earlier] ?? earlier
        rows[former].isSuperseded = true
        last[earlier] = place
      } else {
        guard clash.holder.table == clash.row.table else {
          throw run.conflict(
            clash,
            .otherClass,
            try: "that one is of another class, and cannot be updated to be this one"
          )
        }
        rows[place].target = clash.holder
        if let former = updating[clash.holder] { rows[former].isSuperseded = true }
        updating[clash.holder] = place
      }
    }
    if !hasSettled {
      throw run.conflict(clashes[0], .severalModels, try: "its rows could not be told apart")
    }
  }
}
