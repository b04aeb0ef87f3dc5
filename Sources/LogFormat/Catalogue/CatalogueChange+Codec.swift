import RowFormat

/// A list of catalogue changes as the body of a catalogue record.
///
/// Each change is a tag byte and its fields; numbers are varints, texts and values a varint length
/// and their bytes.
///
///     tag  change        fields
///       1  addTable      name
///       2  renameTable   table, name
///       3  removeTable   table
///       4  addColumn     table, name, type (1 byte), nullable (1 byte, 0 or 1)
///       5  renameColumn  table, column, name
///       6  retireColumn  table, column
///       7  setLayout     table, count, columns
///       8  setMetadata   key, value
///
/// The list ends at the end of the body.
extension CatalogueChange {
  package func encode(into buffer: inout ByteBuffer) {
    switch self {
    case .addTable(let name):
      buffer.append(1 as UInt8)
      buffer.appendText(name)
    case .renameTable(let table, let name):
      buffer.append(2 as UInt8)
      buffer.appendVarint(UInt64(table))
      buffer.appendText(name)
    case .removeTable(let table):
      buffer.append(3 as UInt8)
      buffer.appendVarint(UInt64(table))
    case .addColumn(let table, let name, let type, let isNullable):
      buffer.append(4 as UInt8)
      buffer.appendVarint(UInt64(table))
      buffer.appendText(name)
      buffer.append(type.rawValue)
      buffer.append(isNullable ? 1 as UInt8 : 0)
    case .renameColumn(let table, let column, let name):
      buffer.append(5 as UInt8)
      buffer.appendVarint(UInt64(table))
      buffer.appendVarint(UInt64(column))
      buffer.appendText(name)
    case .retireColumn(let table, let column):
      buffer.append(6 as UInt8)
      buffer.appendVarint(UInt64(table))
      buffer.appendVarint(UInt64(column))
    case .setLayout(let table, let columns):
      buffer.append(7 as UInt8)
      buffer.appendVarint(UInt64(table))
      buffer.appendVarint(UInt64(columns.count))
      for column in columns { buffer.appendVarint(UInt64(column)) }
    case .setMetadata(let key, let value):
      buffer.append(8 as UInt8)
      buffer.appendText(key)
      buffer.appendBytes(value)
    }
  }

  /// Reads a list of changes; `nil` if the bytes are not a list of changes.
  package static func decodeList(_ bytes: RawSpan) -> [CatalogueChange]? {
    var cursor = ByteCursor(0..<bytes.byteCount)
    var changes: [CatalogueChange] = []
    while cursor.remaining > 0 {
      guard let change = decode(&cursor, bytes) else { return nil }
      changes.append(change)
    }
    return changes
  }

  private static func decode(_ cursor: inout ByteCursor, _ bytes: RawSpan) -> CatalogueChange? {
    guard let tag = cursor.integer(UInt8.self, in: bytes) else { return nil }
    switch tag {
    case 1: return cursor.text(in: bytes).map { .addTable(name: $0) }
    case 8:
      guard let key = cursor.text(in: bytes), let value = cursor.bytes(in: bytes) else {
        return nil
      }
      return .setMetadata(key: key, value: value)
    case 2...7:
      guard let table = cursor.varint(UInt16.self, in: bytes) else { return nil }
      return decode(tag, table, &cursor, bytes)
    default: return nil
    }
  }

  /// Decodes a change of one table.
  private static func decode(
    _ tag: UInt8,
    _ table: UInt16,
    _ cursor: inout ByteCursor,
    _ bytes: RawSpan
  ) -> CatalogueChange? {
    switch tag {
    case 2: return cursor.text(in: bytes).map { .renameTable(table, to: $0) }
    case 3: return .removeTable(table)
    case 4:
      guard let name = cursor.text(in: bytes), let byte = cursor.integer(UInt8.self, in: bytes),
        let type = ColumnType(rawValue: byte), let nullable = cursor.integer(UInt8.self, in: bytes)
      else { return nil }
      return .addColumn(table: table, name: name, type: type, isNullable: nullable != 0)
    case 5:
      guard let column = cursor.varint(UInt16.self, in: bytes), let name = cursor.text(in: bytes)
      else { return nil }
      return .renameColumn(table: table, column: column, to: name)
    case 6:
      return cursor.varint(UInt16.self, in: bytes).map { .retireColumn(table: table, column: $0) }
    default:
      guard let count = cursor.varint(UInt16.self, in: bytes) else { return nil }
      var columns: [UInt16] = []
      for _ in 0..<count {
        guard let column = cursor.varint(UInt16.self, in: bytes) else { return nil }
        columns.append(column)
      }
      return .setLayout(table: table, columns: columns)
    }
  }
}
