import RowFormat

/// The rows of one commit of an upsert, and what becomes of each.
///
/// Rows that share a unique value are one model, and so are rows with values of one stored model, as in a save of objects: the
/// last of them is written, and updates the stored row, if there is one. Stored rows are looked up before the batch's rows are
/// written. A row that gets its key in between clashes with the commit, which is then repeated.
struct UpsertBatch {
  private struct Row {
    let values: Range<Int>
    /// The reference of the row if it is new.
    let reference: RowReference
    /// A later row that is the same model; its own place if it is the last one known.
    var successor: Int
    /// The stored row that it updates.
    var target: RowReference?
  }

  private var rows: [Row] = []
  private var constraints: [UpsertConstraint]
  /// Rows with equal values, in pairs.
  private var equals: [(Int, Int)] = []
  private var isLookedUp = false
  /// The rows by their references.
  private var places: [RowReference: Int] = [:]
  /// A row for each stored row that is updated; empty if no two can update the same.
  private var updating: [RowReference: Int] = [:]

  init(_ composer: RowComposer, _ run: borrowing BatchRun) {
    constraints = UniquenessConstraint.all(in: run.connection.schema).compactMap {
      UpsertConstraint($0, composer)
    }
  }

  mutating func append(
    _ values: Range<Int>,
    of composer: RowComposer,
    as reference: RowReference
  ) {
    let place = rows.count
    rows.append(Row(values: values, reference: reference, successor: place))
    for index in constraints.indices {
      guard let earlier = constraints[index].add(values, of: composer, at: place) else { continue }
      equals.append((earlier, place))
      rows[last(earlier)].successor = place
    }
  }

  // MARK: Rows that are one model

  /// Returns the last row of a row's model.
  private mutating func last(_ place: Int) -> Int {
    var place = place
    while rows[place].successor != place {
      rows[place].successor = rows[rows[place].successor].successor
      place = rows[place].successor
    }
    return place
  }

  /// Makes two rows one model, because of a clash.
  ///
  /// - Returns: Whether they were two before.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if they update different rows.
  private mutating func unite(
    _ one: Int,
    _ other: Int,
    _ clash: RowClash,
    _ run: borrowing BatchRun
  ) throws -> Bool {
    let ends = (last(one), last(other))
    if ends.0 == ends.1 { return false }
    let (earlier, later) = (min(ends.0, ends.1), max(ends.0, ends.1))
    if let target = rows[earlier].target {
      guard rows[later].target == nil || rows[later].target == target else {
        throw severalModels(clash, run)
      }
      rows[later].target = target
    }
    rows[earlier].successor = later
    return true
  }

  /// Makes a row, or the last of its model, update the row that holds its value.
  ///
  /// - Returns: Whether it did not do so before.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if it updates another row, or cannot update that one.
  private mutating func update(
    _ clash: RowClash,
    at place: Int,
    _ run: borrowing BatchRun
  ) throws -> Bool {
    guard clash.holder.table == rows[place].reference.table else {
      throw run.conflict(
        clash,
        .otherClass,
        try: "that one is of another class, and cannot be updated to be this one"
      )
    }
    var hasChanged = false
    if let other = updating[clash.holder] { hasChanged = try unite(other, place, clash, run) }
    let end = last(place)
    if rows[end].target == clash.holder { return hasChanged }
    guard rows[end].target == nil else { throw severalModels(clash, run) }
    rows[end].target = clash.holder
    if constraints.count > 1 { updating[clash.holder] = end }
    return true
  }

  private func severalModels(_ clash: RowClash, _ run: borrowing BatchRun) -> SwiftDataError {
    run.conflict(
      clash,
      .severalModels,
      try: "by another constraint it is another stored model; a batch cannot update both"
    )
  }

  // MARK: Stored rows

  /// Finds the stored rows that already have the keys of rows.
  private mutating func lookUp(in run: borrowing BatchRun) throws {
    if isLookedUp { return }
    isLookedUp = true
    for constraint in constraints {
      guard let holders = try constraint.holders(in: run.connection.store) else { continue }
      for (owner, holder) in zip(constraint.owners, holders) where holder != .none {
        let clash = RowClash(
          row: rows[owner].reference,
          holder: holder,
          constraint: constraint.constraint
        )
        _ = try update(clash, at: owner, run)
      }
    }
  }

  private mutating func forgetTargets() {
    for place in rows.indices {
      rows[place].target = nil
      rows[place].successor = place
    }
    updating.removeAll()
    for (earlier, later) in equals { rows[last(earlier)].successor = last(later) }
    isLookedUp = false
  }

  /// Makes the rows with values of others one model with these.
  private mutating func settle(_ clashes: [RowClash], _ run: borrowing BatchRun) throws {
    if places.isEmpty {
      for place in rows.indices { places[rows[place].reference] = place }
    }
    for place in rows.indices {
      if let target = rows[place].target { updating[target] = place }
    }
    var hasSettled = false
    for clash in clashes {
      guard let place = places[clash.row] ?? updating[clash.row] else {
        throw severalModels(clash, run)
      }
      if let holder = places[clash.holder] {
        hasSettled = try unite(holder, place, clash, run) || hasSettled
      } else {
        hasSettled = try update(clash, at: place, run) || hasSettled
      }
    }
    if !hasSettled {
      throw run.conflict(clashes[0], .severalModels, try: "its rows could not be told apart")
    }
  }

  // MARK: Committing

  mutating func commit(
    _ composer: RowComposer,
    _ keys: NewRows,
    _ pairs: BatchPairs?,
    _ run: inout BatchRun
  ) throws {
    var patience: (() -> Bool)?
    var attempts = Attempts(in: run.connection)
    defer { attempts.end() }
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
        attempts.next()
        forgetTargets()
      } catch is RowConflicts {
        // Others have changed rows to be written along: all are looked up and read again.
        attempts.next()
        forgetTargets()
      }
    }
  }

  private mutating func write(
    _ composer: RowComposer,
    _ keys: NewRows,
    _ pairs: BatchPairs?,
    _ run: inout BatchRun
  ) throws {
    let current = run
    let connection = run.connection
    let state = run.context.editingState
    // The old row is needed only for the parts of it that stay.
    let readsRows = pairs != nil || !composer.isOfAllColumns || composer.writesRanks
    let writtenAsRead = composer.columnsWrittenAsRead
    try run.commit(pairs) { sink in
      composer.blobs = sink
      defer { composer.blobs = nil }
      let expecting = writtenAsRead.isEmpty ? nil : sink as? any ValueExpecting
      try lookUp(in: current)
      let written = rows.indices.lazy.filter { [rows] in rows[$0].successor == $0 }
      let targets = readsRows ? written.compactMap { [rows] in rows[$0].target } : []
      let stored = try connection.store.rows(at: targets, for: state)
      var saved = SavedRows(connectionIndex: connection.index)
      var next = stored.makeIterator()
      for place in written {
        let row = rows[place]
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
}

/// A uniqueness constraint, and the values that the rows of a batch have for it.
private struct UpsertConstraint {
  let constraint: UniquenessConstraint
  /// Its columns in a row of values.
  private let positions: [Int]
  private var keys = KeyList()
  /// The last row with each key, by the key's number.
  private(set) var owners: [Int] = []

  /// - Returns: `nil` if it does not apply to the class, or if the batch does not name all of its properties: then the store
  ///   reports the rows that clash.
  init?(_ constraint: UniquenessConstraint, _ composer: RowComposer) {
    guard constraint.covers(composer.descriptor),
      let positions = composer.positions(of: constraint.columns)
    else { return nil }
    self.constraint = constraint
    self.positions = positions
  }

  /// Adds the key of a row.
  ///
  /// - Returns: The last row before that had the key.
  mutating func add(_ values: Range<Int>, of composer: RowComposer, at place: Int) -> Int? {
    guard let number = composer.appendKey(positions, of: values, to: &keys) else { return nil }
    guard number < owners.count else {
      owners.append(place)
      return nil
    }
    defer { owners[number] = place }
    return owners[number]
  }

  /// Finds the stored rows that have the keys; `nil` if there are no keys, or the store does not say.
  func holders(in store: any StoreAdapter) throws -> [RowReference]? {
    keys.count == 0 ? nil : try store.rows(having: keys, of: constraint)
  }
}
