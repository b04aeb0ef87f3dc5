#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Rows in the binary format of `COPY`: the key, then the columns in the order of their names.
///
///     2 bytes        the number of fields
///     each field     4 bytes with its length, −1 for null; its bytes as the server's type sends them
///
/// Eleven bytes of signature and eight of flags precede the first row, and a count of −1 follows the last.
struct CopyFormat {
  /// Reads a value that is not in its row.
  typealias OpenBlob = (BlobReference, (RawSpan) throws -> Void) throws -> Void

  let table: TableDescription
  let layout: RowLayout
  /// The columns, by name.
  let columns: [Column]

  struct Column {
    let position: Int
    let name: String
    let kind: MappedColumn.Kind
  }

  static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
  static let trailer: [UInt8] = [0xFF, 0xFF]

  init(_ table: TableDescription) {
    self.table = table
    layout = table.layout
    columns = table.columns.enumerated().map {
      Column(position: $0, name: $1.name, kind: MappedColumn.Kind($1.type))
    }.sorted { $0.name < $1.name }
  }

  /// The names of the columns as they travel, in SQL.
  var columnNames: [String] { columns.map(\.name) }

  /// Whether the server may return other bytes for a value than it was sent: jsonb has an order of its own.
  var isRearranged: Bool { columns.contains { $0.kind == .composite } }
}

// MARK: Writing

extension CopyFormat {
  /// Appends a row.
  ///
  /// - Throws: ``MoveError/unstorableValue(table:key:column:reason:)``, or what `open` throws.
  func append(
    _ reference: RowReference,
    _ row: RawSpan,
    to buffer: inout ByteBuffer,
    open: OpenBlob
  ) throws {
    buffer.append(UInt16(columns.count + 1).byteSwapped)
    buffer.append(UInt32(8).byteSwapped)
    buffer.append(reference.rawValue.byteSwapped)
    for column in columns { try append(column, reference, row, to: &buffer, open) }
  }

  private func append(
    _ column: Column,
    _ reference: RowReference,
    _ row: RawSpan,
    to buffer: inout ByteBuffer,
    _ open: OpenBlob
  ) throws {
    let position = column.position
    func unstorable(_ reason: String) -> MoveError {
      .unstorableValue(
        table: table.name,
        key: reference.key,
        column: column.name,
        reason: reason
      )
    }
    func check(_ byteCount: Int) throws {
      // A composite may need more as text than its bytes.
      guard byteCount <= ValueLimit.byteCount else {
        throw unstorable(ValueLimit.reason(byteCount))
      }
    }
    if layout.isNull(position, in: row) { return buffer.append(UInt32.max) }
    switch column.kind {
    case .bool:
      buffer.append(UInt32(1).byteSwapped)
      buffer.append(layout.bool(position, in: row) ? 1 as UInt8 : 0)
    case .integer:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.integer(position, in: row).byteSwapped)
    case .double:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.double(position, in: row).bitPattern.byteSwapped)
    case .date:
      let seconds = layout.double(position, in: row)
      guard let microseconds = PostgresDate.microseconds(since2001: seconds) else {
        throw unstorable(
          "PostgreSQL keeps dates from 4713 BC to the year 294276, not \(seconds) s since 2001"
        )
      }
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(microseconds.byteSwapped)
    case .uuid:
      let (low, high) = layout.uuid(position, in: row)
      buffer.append(UInt32(16).byteSwapped)
      buffer.append(low)
      buffer.append(high)
    case .reference:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.reference(position, in: row).rawValue.byteSwapped)
    case .text, .bytes:
      let range = layout.range(position, in: row)
      try check(range.count)
      let bytes = row.extracting(range)
      if column.kind == .text, bytes.contains(0) {
        throw unstorable("text in PostgreSQL has no U+0000: keep the value as Data instead")
      }
      buffer.append(UInt32(range.count).byteSwapped)
      buffer.append(bytes)
    case .external:
      switch layout.blob(position, in: row) {
      case nil: throw unstorable("its bytes are damaged")
      case .inline(let range):
        try check(range.count)
        buffer.append(UInt32(range.count).byteSwapped)
        buffer.append(row.extracting(range))
      case .external(let blob):
        try check(blob.byteCount)
        let start = buffer.count
        buffer.append(UInt32(blob.byteCount).byteSwapped)
        try open(blob) { buffer.append($0) }
        guard buffer.count - start - 4 == blob.byteCount else {
          throw unstorable("its file has another length")
        }
      }
    case .references:
      let references = layout.references(position, in: row)
      try check(references.count * 12)
      buffer.append(UInt32(references.isEmpty ? 12 : 20 + references.count * 12).byteSwapped)
      buffer.append(UInt32(references.isEmpty ? 0 : 1).byteSwapped)
      buffer.append(0 as UInt32)
      buffer.append(ServerType.bigint.rawValue.byteSwapped)
      guard !references.isEmpty else { return }
      buffer.append(UInt32(references.count).byteSwapped)
      buffer.append(UInt32(1).byteSwapped)
      for reference in references {
        buffer.append(UInt32(8).byteSwapped)
        buffer.append(reference.rawValue.byteSwapped)
      }
    case .decimal, .composite:
      let range = layout.range(position, in: row)
      guard let value = StructuredValue(row.extracting(range)) else {
        throw unstorable("its bytes are damaged")
      }
      var json: [UInt8] = [1]
      do {
        try CompositeText.append(value.arranged, to: &json)
      } catch let error as CompositeText.Unwritable {
        throw unstorable(error.reason)
      }
      try check(json.count)
      buffer.append(UInt32(json.count).byteSwapped)
      buffer.append(json.span.bytes)
    }
  }
}

extension RawSpan {
  fileprivate func contains(_ byte: UInt8) -> Bool {
    withUnsafeBytes { $0.baseAddress.map { memchr($0, Int32(byte), byteCount) != nil } ?? false }
  }
}

extension StructuredValue {
  /// The same value with the members of its objects in one order: what two stores have to agree on.
  fileprivate var arranged: StructuredValue {
    switch self {
    case .array(let values): return .array(values.map(\.arranged))
    case .tagged(let tag, let value): return .tagged(tag, value.arranged)
    case .map(let entries):
      let isObject = entries.allSatisfy { if case .text = $0.key { true } else { false } }
      let arranged = entries.map { Entry(key: $0.key.arranged, value: $0.value.arranged) }
      guard isObject else { return .map(arranged) }
      return .map(
        arranged.sorted { lhs, rhs in
          guard case .text(let lhs) = lhs.key, case .text(let rhs) = rhs.key else { return false }
          return lhs.utf8.lexicographicallyPrecedes(rhs.utf8)
        }
      )
    default: return self
    }
  }
}
#endif
