import RowFormat

/// A whole catalogue, as manifests and checkpoints keep it.
///
/// Numbers are varints, texts and values a varint length and their bytes.
///
///     nextTableNumber
///     count of tables, then each:
///       number, name
///       count of columns, then each: name, type (1 byte), flags (1 byte: 1 nullable, 2 retired)
///       count of layouts, then each: count of columns, their numbers
///       number of the current layout
///     count of metadata, then each, by ascending key: key, value
extension Catalogue {
  package func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(nextTableNumber))
    buffer.appendVarint(UInt64(tables.count))
    for table in tables { table.encode(into: &buffer) }
    buffer.appendVarint(UInt64(metadata.count))
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      buffer.appendText(key)
      buffer.appendBytes(value)
    }
  }

  /// Reads a catalogue; `nil` if the bytes are not a catalogue.
  package init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let next = cursor.varint(UInt16.self, in: bytes),
      let tableCount = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    nextTableNumber = next
    for _ in 0..<tableCount {
      guard let table = TableDefinition(decoding: bytes, &cursor), table.number < next,
        table.number > tables.last?.number ?? 0
      else { return nil }
      tables.append(table)
    }
    guard let metadataCount = cursor.varint(in: bytes) else { return nil }
    for _ in 0..<metadataCount {
      guard let key = cursor.text(in: bytes), let value = cursor.bytes(in: bytes) else {
        return nil
      }
      metadata[key] = value
    }
  }
}

extension TableDefinition {
  package func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(number))
    buffer.appendText(name)
    buffer.appendVarint(UInt64(columns.count))
    for column in columns {
      buffer.appendText(column.name)
      buffer.append(column.type.rawValue)
      buffer.append((column.isNullable ? 1 : 0) | (column.isRetired ? 2 : 0) as UInt8)
    }
    buffer.appendVarint(UInt64(layouts.count))
    for layout in layouts {
      buffer.appendVarint(UInt64(layout.columns.count))
      for column in layout.columns { buffer.appendVarint(UInt64(column)) }
    }
    buffer.appendVarint(UInt64(currentLayout.rawValue))
  }

  package init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let number = cursor.varint(UInt16.self, in: bytes), let name = cursor.text(in: bytes),
      let columnCount = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    self.number = number
    self.name = name
    for index in 0..<columnCount {
      guard let name = cursor.text(in: bytes), let byte = cursor.integer(UInt8.self, in: bytes),
        let type = ColumnType(rawValue: byte), let flags = cursor.integer(UInt8.self, in: bytes),
        index < UInt16(Int16.max)
      else { return nil }
      var column = ColumnDefinition(
        number: index + 1,
        name: name,
        type: type,
        isNullable: flags & 1 != 0
      )
      column.isRetired = flags & 2 != 0
      columns.append(column)
    }
    guard let layoutCount = cursor.varint(UInt16.self, in: bytes), layoutCount <= Int16.max else {
      return nil
    }
    for index in 0..<layoutCount {
      guard let layout = decodeLayout(LayoutNumber(index + 1), bytes, &cursor) else { return nil }
      layouts.append(layout)
    }
    guard let current = cursor.varint(UInt16.self, in: bytes), current <= layoutCount else {
      return nil
    }
    currentLayout = LayoutNumber(current)
  }

  private func decodeLayout(
    _ number: LayoutNumber,
    _ bytes: RawSpan,
    _ cursor: inout ByteCursor
  ) -> LayoutDefinition? {
    guard let count = cursor.varint(UInt16.self, in: bytes) else { return nil }
    var numbers: [UInt16] = []
    var types: [ColumnType] = []
    for _ in 0..<count {
      guard let number = cursor.varint(UInt16.self, in: bytes), let column = column(number) else {
        return nil
      }
      numbers.append(number)
      types.append(column.type)
    }
    return LayoutDefinition(number: number, columns: numbers, layout: RowLayout(types))
  }
}
