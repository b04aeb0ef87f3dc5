import Foundation
public import LogEngine
public import RowFormat
public import Workloads

/// Trips in an engine: a table whose columns are the eight attributes.
///
/// One thread uses it at a time; several may share an engine, each through one of its own.
public final class EngineTrips: MixedTripStore {
  public let engine: StorageEngine
  private let isOwner: Bool
  private let table: TripTable
  private var batch: CommitBatch
  private var writer = RowWriter()

  /// Opens a store, or makes it.
  ///
  /// - Parameters:
  ///   - path: Its folder.
  ///   - durability: The event that a commit waits for.
  ///   - compaction: Whether the store is compacted beside the work.
  /// - Throws: ``StorageError``.
  public convenience init(
    at path: String,
    _ durability: EngineOptions.Durability,
    _ compaction: EngineOptions.CompactionMode = .onDemand
  ) throws {
    var options = EngineOptions()
    options.compaction = compaction
    // As users of models get it: automatic compaction keeps no history beyond what readers need.
    if compaction == .automatic { options.history = .nothing }
    options.durability = durability
    try self.init(StorageEngine.open(at: path, options: options), isOwner: true)
  }

  /// Works on a store that is open, and that another object closes.
  ///
  /// - Parameter engine: The store.
  /// - Throws: ``StorageError``.
  public convenience init(sharing engine: StorageEngine) throws {
    try self.init(engine, isOwner: false)
  }

  private init(_ engine: StorageEngine, isOwner: Bool) throws {
    self.engine = engine
    self.isOwner = isOwner
    table = try TripTable(in: engine)
    batch = engine.makeBatch()
  }

  public func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    try insert(records)
  }

  /// Adds records in one commit, under keys that the engine assigns: from 1, without gaps.
  ///
  /// - Parameter records: The new records.
  /// - Throws: ``StorageError``.
  public func insert(_ records: ArraySlice<TripRecord>) throws {
    insert(records, into: &batch, through: &writer)
    _ = try engine.commit(&batch)
  }

  /// Lent as arguments, the batch and the writer are looked up once, and not for each record.
  private func insert(
    _ records: ArraySlice<TripRecord>,
    into batch: inout CommitBatch,
    through writer: inout RowWriter
  ) {
    var keys = engine.reserveKeys(records.count, in: table.number).makeIterator()
    for record in records {
      guard let key = keys.next() else { return }
      writer.removeAll()
      let place = table.write(record, to: &writer)
      batch.insert(
        reference(to: key),
        layout: table.layoutNumber,
        row: writer.bytes.extracting(place)
      )
    }
  }

  public func read(_ key: UInt64) throws -> Int {
    try withRow(key) { table.read($0).checksum }
  }

  /// Reads one column of fixed width.
  ///
  /// - Parameter key: The row's key.
  /// - Returns: The rating.
  /// - Throws: ``StorageError``.
  public func readRating(_ key: UInt64) throws -> Int {
    try withRow(key) { Int(table.rating($0)) }
  }

  public func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    var changed = ColumnSet()
    changed.insert(TripTable.Column.rating.rawValue)
    for key in keys {
      writer.removeAll()
      let place = try withRow(key) { row in
        table.write(row, rating: table.rating(row) &+ 1, to: &writer)
      }
      batch.update(
        reference(to: key),
        layout: table.layoutNumber,
        changed: changed,
        row: writer.bytes.extracting(place)
      )
    }
    _ = try engine.commit(&batch)
  }

  public func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    let wanted = Array(destination.utf8)
    let column = TripTable.Column.destination.rawValue
    var count = 0
    try engine.scan(table.number) { _, _, row in
      if table.rating(row) > rating, row.extracting(table.layout.range(column, in: row)) == wanted {
        count += 1
      }
      return .proceed
    }
    return count
  }

  public func readEarliest(_ count: Int) throws -> Int {
    var earliest = EarliestTrips(count)
    try engine.scan(table.number) { key, _, row in
      earliest.offer(key, start: table.startDate(row))
      return .proceed
    }
    return try earliest.keys.reduce(0) { try $0 + read($1) }
  }

  public func readFirst(_ count: Int) throws -> Int { try read(count, from: 1) }

  public func read(_ count: Int, from first: UInt64) throws -> Int {
    var sum = 0
    try engine.scan(table.number, in: first..<first + UInt64(count)) { _, _, row in
      sum += table.read(row).checksum
      return .proceed
    }
    return sum
  }

  public func overwrite(_ records: ArraySlice<TripRecord>) throws {
    for record in records {
      writer.removeAll()
      let place = table.write(record, to: &writer)
      batch.update(
        reference(to: record.id),
        layout: table.layoutNumber,
        changed: .all,
        row: writer.bytes.extracting(place)
      )
    }
    _ = try engine.commit(&batch)
  }

  /// The engine's reference to the row of a key.
  public func reference(to key: UInt64) -> RowReference {
    RowReference(table: table.number, key: key)
  }

  public func compact() throws -> Bool {
    try engine.compact()
    return true
  }

  public func makeHandle() throws -> any TripStore { try EngineTrips(sharing: engine) }

  public func close() throws { if isOwner { try engine.close() } }

  private func withRow<Result>(_ key: UInt64, _ body: (RawSpan) throws -> Result) throws -> Result {
    let reference = reference(to: key)
    guard let result = try engine.withRow(reference, { row, _ in try body(row) }) else {
      throw StorageError.rowNotFound(reference)
    }
    return result
  }
}

extension RawSpan {
  /// Whether the bytes are those of an array.
  fileprivate static func == (lhs: RawSpan, rhs: [UInt8]) -> Bool {
    lhs.withUnsafeBytes { $0.elementsEqual(rhs) }
  }
}
