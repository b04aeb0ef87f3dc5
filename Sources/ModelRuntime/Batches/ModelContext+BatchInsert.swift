import RowFormat

extension ModelContext {
  /// Inserts rows without making objects of them, and commits them.
  ///
  ///     let result = try context.batchInsert(
  ///       Flight.self, \.carrier, \.origin, \.distance,
  ///       rows: lines.lazy.map { ($0.carrier, $0.origin, $0.distance) })
  ///
  /// Properties that are not named get their defaults, which are made once for all rows. Unlike ``insert(_:)`` this does
  /// not wait for ``save()``: the rows are stored when it returns, and unsaved changes of the context stay unsaved. No
  /// initializer of the class runs. Uniqueness holds: a value that a stored model already has is an error here, and
  /// `batchUpsert` updates that model instead. A batch cannot be undone.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - properties: Stored properties, to-one relationships included; a list is set from its other end.
  ///   - rows: A tuple of values for each row, or a value if there is one property. Read one by one, and never all in memory.
  ///   - step: The number of rows per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The number of inserted models, and their identifiers.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for values that are not unique, or a property that must be named;
  ///   ``SwiftDataError/unsupportedKeyPath``; ``DataStoreError/unsupportedFeature`` for a store that keeps no rows.
  /// - Complexity: Some hundred nanoseconds a row, and 8 bytes of memory for each beside the commit itself.
  @discardableResult
  public func batchInsert<T: PersistentModel, each Value, Rows: Sequence>(
    _ model: T.Type,
    _ properties: repeat KeyPath<T, each Value>,
    rows: Rows,
    commitEvery step: Int? = nil
  ) throws -> BatchResult where Rows.Element == (repeat each Value) {
    try insertRows(rows, of: repeat each properties, commitEvery: step)
  }

  /// Inserts rows of one property without making objects of them, and commits them.
  ///
  ///     try context.batchInsert(Keyword.self, \.word, rows: ["harbour", "lighthouse"])
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - property: A stored property; the others get their defaults.
  ///   - rows: A value for each row. Read one by one, and never all in memory.
  ///   - step: The number of rows per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The number of inserted models, and their identifiers.
  /// - Throws: As for several properties.
  @discardableResult
  public func batchInsert<T: PersistentModel, Value, Rows: Sequence>(
    _ model: T.Type,
    _ property: KeyPath<T, Value>,
    rows: Rows,
    commitEvery step: Int? = nil
  ) throws -> BatchResult where Rows.Element == Value {
    try insertRows(rows, of: property, commitEvery: step)
  }

  private func insertRows<T: PersistentModel, each Value, Rows: Sequence>(
    _ rows: Rows,
    of properties: repeat KeyPath<T, each Value>,
    commitEvery step: Int?
  ) throws -> BatchResult where Rows.Element == (repeat each Value) {
    let run = try BatchRun(self, of: T.self)
    var columns = try BatchColumns(run)
    repeat try columns.add(each properties)
    let source = TupleRows(rows: rows.makeIterator(), writers: columns.writers)
    return try checked {
      try insert(
        source,
        columns.composer(),
        run,
        max(step ?? .max, 1),
        rows.underestimatedCount
      )
    }
  }

  private func insert<Source: BatchSource>(
    _ source: Source,
    _ composer: RowComposer,
    _ started: BatchRun,
    _ step: Int,
    _ estimate: Int
  ) throws -> BatchResult {
    var (source, run) = (source, started)
    try composer.checkIsComplete()
    let connection = run.connection
    let keys = NewRows(connection, run.descriptor, estimate: estimate)
    // The rows are read one by one, and cannot be read again.
    let pairs = BatchPairs(
      among: composer.properties,
      of: run.descriptor,
      in: connection,
      canRepeat: false
    )
    var isDone = false
    while !isDone {
      do {
        try run.commit(pairs) { sink in
          composer.encoder.blobs = sink
          defer { composer.encoder.blobs = nil }
          var rows = SavedRows(connectionIndex: connection.index)
          isDone = try source.write(upTo: step, to: composer) { values in
            let reference = try keys.next()
            try composer.withNewRow(values, rank: keys.nextRank) {
              sink.insert(reference, row: $0)
              pairs?.add(reference, $0)
            }
            composer.removeAll()
            rows.inserted.append(reference)
          }
          return rows
        }
      } catch let clashes as RowClashes {
        throw run.conflict(
          clashes.clashes[0],
          .policy,
          try: "batchUpsert updates the model that is there"
        )
      } catch let vanished as VanishedRow {
        throw run.error(vanished)
      } catch let lost as LostTurn {
        // The rows were read one by one, and cannot be read again.
        throw lost.cause
      }
    }
    return run.result
  }
}

/// Rows of a batch, which are read one by one.
protocol BatchSource {
  /// Writes rows, one after the other.
  ///
  /// - Parameters:
  ///   - limit: Maximum number of rows.
  ///   - composer: Encodes the values of each row.
  ///   - body: Receives the range of a row's values, once they are written.
  /// - Returns: Whether there are no more rows.
  /// - Throws: The error of `body`, or of encoding a value.
  mutating func write(
    upTo limit: Int,
    to composer: RowComposer,
    _ body: (Range<Int>) throws -> Void
  ) throws -> Bool
}

/// Rows as tuples.
struct TupleRows<Rows: IteratorProtocol, each Value>: BatchSource
where Rows.Element == (repeat each Value) {
  var rows: Rows
  let writers: [BatchValueWriter]

  // The loop is in here, and no writer has the type of its values: types that depend on the tuple's would otherwise be
  // looked up for each row, which took a third of the time of an insert.
  mutating func write(
    upTo limit: Int,
    to composer: RowComposer,
    _ body: (Range<Int>) throws -> Void
  ) throws -> Bool {
    // Likewise, the place of a property in this structure is that of its type: asked for once, not for each value.
    let writers = writers
    let columns = composer.columns
    for _ in 0..<limit {
      guard let row = rows.next() else { return true }
      composer.begin()
      var position = 0
      func write<Column>(_ value: Column) throws {
        try writers[position].write(value, to: composer, at: columns[position])
        position += 1
      }
      repeat try write(each row)
      try body(composer.finish())
    }
    return false
  }
}

/// Collects the columns of a batch.
struct BatchColumns {
  private let descriptor: ModelDescriptor
  private let connection: StoreConnection
  private(set) var properties: [ModelProperty] = []
  private(set) var writers: [BatchValueWriter] = []

  /// - Throws: ``DataStoreError/unsupportedFeature`` for a store that keeps no rows.
  init(_ run: BatchRun) throws {
    guard run.connection.store.keepsRows else { throw DataStoreError.unsupportedFeature }
    descriptor = run.descriptor
    connection = run.connection
  }

  mutating func add<T, Value>(_ keyPath: KeyPath<T, Value>) throws {
    let column = try BatchColumn<Value>(
      keyPath,
      at: properties.count,
      of: descriptor,
      in: connection
    )
    properties.append(column.property)
    writers.append(BatchValueWriter(column))
  }

  func composer() throws -> RowComposer { try RowComposer(descriptor, properties, for: .rows) }
}

/// Names for new rows of one class, and their places in lists.
final class NewRows {
  private let connection: StoreConnection
  private let descriptor: ModelDescriptor
  private var rows: Range<UInt64> = 0..<0
  private var table: UInt16 = 0
  private var ranks: Range<Int64> = 0..<0
  private var count: Int

  init(_ connection: StoreConnection, _ descriptor: ModelDescriptor, estimate: Int) {
    self.connection = connection
    self.descriptor = descriptor
    count = min(max(estimate, 16), 1 << 20)
  }

  func next() throws -> RowReference {
    if rows.isEmpty {
      (table, rows) = try connection.store.reserveRows(count, of: descriptor)
      count = min(max(count, 64), 1024)
    }
    defer { rows = (rows.lowerBound + 1)..<rows.upperBound }
    return RowReference(table: table, key: rows.lowerBound)
  }

  func nextRank() throws -> Int64 {
    if ranks.isEmpty { ranks = try connection.store.reserveRanks(1024) }
    defer { ranks = (ranks.lowerBound + 1)..<ranks.upperBound }
    return ranks.lowerBound
  }
}
