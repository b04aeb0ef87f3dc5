import Foundation
import ModelRuntime
import RowFormat

/// What an index of one table is made of, by the positions of columns.
struct IndexDefinition: Sendable {
  struct Column: Sendable {
    let number: Int
    let kind: QueryKind
    let isOptional: Bool

    func prefix(in row: RawSpan, _ layout: RowLayout) -> UInt64 {
      SortPrefix.prefix(of: number, kind, isOptional: isOptional, in: row, layout)
    }
  }

  let table: UInt16
  /// The first one decides the order.
  let columns: [Column]

  /// Whether the order's eight bytes tell all values of the first column apart, and there is no other.
  let isDecidedByPrefix: Bool

  /// The index of some properties in a table; `nil` if the first one's values have no order in rows.
  init?(_ names: [String], in table: EntityTable) {
    var columns: [Column] = []
    for name in names {
      guard let property = table.descriptor.property(named: name), !property.isRelationship,
        let reading = ColumnReading(property), SortPrefix.isOrdered(reading.kind)
      else { break }
      columns.append(
        Column(number: reading.column, kind: reading.kind, isOptional: reading.isOptional)
      )
    }
    if columns.isEmpty { return nil }
    self.table = table.number
    self.columns = columns
    isDecidedByPrefix = columns.count == 1 && columns[0].kind != .text && columns[0].kind != .uuid
  }

  /// What a row is kept under.
  func entry(of row: RawSpan, _ layout: RowLayout) -> IndexEntry {
    let prefix = columns[0].prefix(in: row, layout)
    if isDecidedByPrefix { return IndexEntry(prefix: prefix, hash: 0) }
    var hash = IndexHash()
    for column in columns {
      hash.combine(column.prefix(in: row, layout))
      if column.kind == .text {
        hash.combine(layout.range(column.number, in: row), of: row)
      } else if column.kind == .uuid, !layout.isNull(column.number, in: row) {
        hash.combine(layout.uuid(column.number, in: row).1)
      }
    }
    return IndexEntry(prefix: prefix, hash: hash.value)
  }

  /// The hash of rows with certain values in all columns; `nil` for a value that cannot be in its column.
  func hash(of values: [QueryValue]) -> UInt32? {
    var hash = IndexHash()
    for (column, value) in zip(columns, values) {
      guard let prefix = SortPrefix.prefix(of: value, column.kind) else { return nil }
      hash.combine(prefix)
      if case .text(let text) = value { hash.combine(text) }
      if case .uuid(let uuid) = value { hash.combine(uuid.high) }
    }
    return hash.value
  }
}

/// What a row is kept under in an index.
struct IndexEntry: Hashable {
  let prefix: UInt64
  let hash: UInt32
}

/// One index in memory: rows by the order of the first column, and, where that does not tell values apart, also by
/// a hash of all columns.
struct ValueIndex: Sendable {
  let definition: IndexDefinition
  private(set) var ordered: OrderedRows
  private(set) var hashed: HashedRows?

  init(_ definition: IndexDefinition, _ entries: [(RowReference, IndexEntry)]) {
    self.definition = definition
    if definition.isDecidedByPrefix {
      hashed = nil
    } else {
      var rows = HashedRows()
      rows.reserve(entries.count)
      for (row, entry) in entries { rows.insert(row, entry.hash) }
      hashed = rows
    }
    ordered = OrderedRows(entries.map { OrderedRows.Entry(prefix: $1.prefix, row: $0) })
  }

  mutating func insert(_ row: RowReference, _ entry: IndexEntry) {
    ordered.insert(OrderedRows.Entry(prefix: entry.prefix, row: row))
    if hashed?.contains(row, entry.hash) == false { hashed?.insert(row, entry.hash) }
  }

  /// Takes out what a row is kept under, but for what it has in common with another entry of the row.
  mutating func remove(_ row: RowReference, _ entry: IndexEntry, keeping other: IndexEntry?) {
    if entry.prefix != other?.prefix {
      ordered.remove(OrderedRows.Entry(prefix: entry.prefix, row: row))
    }
    if entry.hash != other?.hash { hashed?.remove(row, entry.hash) }
  }
}

/// Hashes the values of several columns, one after the other.
private struct IndexHash {
  private(set) var value: UInt32 = 0x9E37_79B9

  mutating func combine(_ word: UInt64) {
    let product = (word ^ UInt64(value)).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    value = UInt32(truncatingIfNeeded: (product.high ^ product.low) >> 16)
  }

  /// Takes in a text of a row, in normal form.
  mutating func combine(_ range: Range<Int>, of row: RawSpan) {
    let isPlain = row.withUnsafeBytes { $0[range].allSatisfy { $0 < 0xCC } }
    if isPlain {
      row.withUnsafeBytes { combine(bytes: UnsafeRawBufferPointer(rebasing: $0[range])) }
    } else {
      combine(row.withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) })
    }
  }

  mutating func combine(_ text: String) {
    // Strings that are equal have the same characters in normal form, whatever their bytes.
    var normal =
      text.utf8.allSatisfy { $0 < 0xCC } ? text : text.precomposedStringWithCanonicalMapping
    normal.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private mutating func combine(bytes: UnsafeRawBufferPointer) {
    var offset = 0
    while offset + 8 <= bytes.count {
      combine(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest = UInt64(bytes.count)
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    combine(rest)
  }
}
