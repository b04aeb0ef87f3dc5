import RowFormat

extension ModelContext {
  /// Inserts rows, and updates the stored models that have their unique values already, without making objects.
  ///
  ///     let result = try context.batchUpsert(
  ///       Airport.self, \.code, \.name, \.city, rows: airports.map { ($0.code, $0.name, $0.city) })
  ///     print(result.insertedCount, "new,", result.updatedCount, "updated")
  ///
  /// The constraints of the class decide, `.unique` or `#Unique`: one must be among the properties. A model that is already
  /// there keeps its identifier, and the properties that are not named; a new one gets their defaults. Rows of a commit that
  /// share a unique value, or meet through other rows or one stored model, are one model, as in a save: the last one
  /// counts. For the rest see `batchInsert`.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - properties: Stored properties.
  ///   - rows: A tuple of values for each row, or a value if there is one property. The rows of one commit are in memory
  ///     together.
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
    try upsertRows(rows, of: repeat each properties, commitEvery: step)
  }

  /// Inserts rows of one property, except for those whose value a stored model already has, without making objects.
  ///
  ///     try context.batchUpsert(Keyword.self, \.word, rows: ["harbour", "lighthouse"])
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - property: A stored property that is unique by itself; the others of a new model get their defaults.
  ///   - rows: A value for each row. The rows of one commit are in memory together.
  ///   - step: The number of rows per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The numbers of inserted and updated models, and their identifiers.
  /// - Throws: As for several properties.
  @discardableResult
  public func batchUpsert<T: PersistentModel, Value, Rows: Sequence>(
    _ model: T.Type,
    _ property: KeyPath<T, Value>,
    rows: Rows,
    commitEvery step: Int? = nil
  ) throws -> BatchResult where Rows.Element == Value {
    try upsertRows(rows, of: property, commitEvery: step)
  }

  private func upsertRows<T: PersistentModel, each Value, Rows: Sequence>(
    _ rows: Rows,
    of properties: repeat KeyPath<T, each Value>,
    commitEvery step: Int?
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
      var batch = UpsertBatch(composer, run)
      isDone = try source.write(upTo: step, to: composer) { values in
        batch.append(values, of: composer, as: try keys.next())
      }
      try batch.commit(composer, keys, pairs, &run)
      composer.removeAll()
    }
    return run.result
  }
}
