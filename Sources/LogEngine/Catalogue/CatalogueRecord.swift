import RowFormat

/// A list of catalogue changes as the body of a record.
///
///     part     size     meaning
///     count    varint   of the changes
///     changes           each: kind u8, then its fields: numbers as varints, names and values as a
///                       varint length and bytes
enum CatalogueRecord {
  private enum Kind: UInt8 {
    case addTable = 1, renameTable, removeTable, addColumn, renameColumn, retireColumn, setLayout
    case setMetadata
  }

  static func encode(_ changes: [CatalogueChange], into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(changes.count))
    for change in changes { encode(change, into: &buffer) }
  }

  private static func encode(_ change: CatalogueChange, into buffer: inout ByteBuffer) {
    func kind(_ kind: Kind, _ numbers: Int..., buffer: inout ByteBuffer) {
      buffer.append(kind.rawValue)
      for number in numbers { buffer.appendVarint(UInt64(number)) }
    }
    switch change {
    case .addTable(let name):
      kind(.addTable, buffer: &buffer)
      append(name, to: &buffer)
    case .renameTable(let table, let name):
      kind(.renameTable, Int(table), buffer: &buffer)
      append(name, to: &buffer)
    case .removeTable(let table): kind(.removeTable, Int(table), buffer: &buffer)
    case .addColumn(let table, let name, let type, let isNullable):
      kind(.addColumn, Int(table), Int(type.rawValue), isNullable ? 1 : 0, buffer: &buffer)
      append(name, to: &buffer)
    case .renameColumn(let table, let column, let name):
      kind(.renameColumn, Int(table), Int(column), buffer: &buffer)
      append(name, to: &buffer)
    case .retireColumn(let table, let column):
      kind(.retireColumn, Int(table), Int(column), buffer: &buffer)
    case .setLayout(let table, let columns):
      kind(.setLayout, Int(table), columns.count, buffer: &buffer)
      for column in columns { buffer.appendVarint(UInt64(column)) }
    case .setMetadata(let key, let value):
      kind(.setMetadata, buffer: &buffer)
      append(key, to: &buffer)
      buffer.appendVarint(UInt64(value.count))
      for byte in value { buffer.append(byte) }
    }
  }

  private static func append(_ name: String, to buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(name.utf8.count))
    buffer.append(utf8: name)
  }

  /// Reads a list of changes, or returns `nil` if the bytes are none.
  static func decode(_ bytes: RawSpan) -> [CatalogueChange]? {
    var cursor = ByteCursor(0..<bytes.byteCount)
    guard let count = cursor.varint(in: bytes), count <= UInt64(bytes.byteCount) else { return nil }
    var changes: [CatalogueChange] = []
    for _ in 0..<count {
      guard let change = decodeChange(bytes, &cursor) else { return nil }
      changes.append(change)
    }
    return cursor.remaining == 0 ? changes : nil
  }

  private static func decodeChange(_ bytes: RawSpan, _ cursor: inout ByteCursor) -> CatalogueChange?
  {
    func number() -> UInt16? {
      cursor.varint(in: bytes).flatMap { UInt16(exactly: $0) }
    }
    func range() -> Range<Int>? {
      cursor.varint(in: bytes).flatMap { Int(exactly: $0) }.flatMap { cursor.take($0) }
    }
    func name() -> String? {
      range().map { range in
        unsafe bytes.extracting(range).withUnsafeBytes {
          unsafe String(decoding: $0, as: UTF8.self)
        }
      }
    }
    guard let byte = cursor.integer(UInt8.self, in: bytes), let kind = Kind(rawValue: byte) else {
      return nil
    }
    switch kind {
    case .addTable: return name().map { .addTable(name: $0) }
    case .renameTable:
      guard let table = number(), let name = name() else { return nil }
      return .renameTable(table, to: name)
    case .removeTable: return number().map { .removeTable($0) }
    case .addColumn:
      guard let table = number(), let raw = number(),
        let type = ColumnType(rawValue: UInt8(truncatingIfNeeded: raw)),
        let nullable = number(), let name = name()
      else { return nil }
      return .addColumn(table: table, name: name, type: type, isNullable: nullable != 0)
    case .renameColumn:
      guard let table = number(), let column = number(), let name = name() else { return nil }
      return .renameColumn(table: table, column: column, to: name)
    case .retireColumn:
      guard let table = number(), let column = number() else { return nil }
      return .retireColumn(table: table, column: column)
    case .setLayout:
      guard let table = number(), let count = number() else { return nil }
      var columns: [UInt16] = []
      for _ in 0..<count {
        guard let column = number() else { return nil }
        columns.append(column)
      }
      return .setLayout(table: table, columns: columns)
    case .setMetadata:
      guard let key = name(), let range = range() else { return nil }
      return .setMetadata(key: key, value: range.map { bytes.load(UInt8.self, at: $0) })
    }
  }
}
