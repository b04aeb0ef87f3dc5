import RowFormat

extension PackFooter {
  func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(firstSequence)
    buffer.appendVarint(lastSequence)
    buffer.appendVarint(UInt64(schemas.count))
    for schema in schemas { schema.encode(into: &buffer) }
    buffer.appendVarint(UInt64(tables.count))
    for table in tables { table.encode(into: &buffer) }
    buffer.appendVarint(UInt64(dictionaries.count))
    for dictionary in dictionaries { dictionary.encode(into: &buffer) }
    buffer.appendVarint(UInt64(blocks.count))
    for block in blocks {
      buffer.appendVarint(UInt64(block.schema))
      buffer.appendVarint(UInt64(block.rowCount))
      buffer.appendVarint(block.firstKey)
      buffer.appendVarint(block.lastKey - block.firstKey)
      buffer.appendVarint(UInt64(block.byteCount))
      for (index, type) in schemas[block.schema].rowLayout.types.enumerated() {
        zones[block.zoneStart + index].encode(ZoneMap.order(of: type), into: &buffer)
      }
    }
  }

  /// Reads a footer; `nil` if the bytes are not a footer.
  init?(decoding bytes: RawSpan) {
    var cursor = ByteCursor(0..<bytes.byteCount)
    guard let first = cursor.varint(in: bytes), let last = cursor.varint(in: bytes),
      first <= last, let schemas = cursor.list(in: bytes, PackSchema.init(decoding:_:)),
      let tables = cursor.list(in: bytes, PackTable.init(decoding:_:)),
      let dictionaries = cursor.list(in: bytes, DictionaryEntry.init(decoding:_:)),
      let blockCount = cursor.varint(UInt32.self, in: bytes)
    else { return nil }
    firstSequence = first
    lastSequence = last
    self.schemas = schemas
    self.tables = tables
    self.dictionaries = dictionaries
    for _ in 0..<blockCount {
      guard decodeBlock(bytes, &cursor) else { return nil }
    }
    guard cursor.remaining == 0 else { return nil }
  }

  private mutating func decodeBlock(_ bytes: RawSpan, _ cursor: inout ByteCursor) -> Bool {
    guard let schema = cursor.varint(Int.self, in: bytes), schemas.indices.contains(schema),
      let rowCount = cursor.varint(Int.self, in: bytes),
      let firstKey = cursor.varint(in: bytes), let span = cursor.varint(in: bytes),
      let byteCount = cursor.varint(UInt32.self, in: bytes)
    else { return false }
    let (lastKey, overflow) = firstKey.addingReportingOverflow(span)
    let types = schemas[schema].rowLayout.types
    guard !overflow, lastKey <= RowReference.maximumKey, 1...PackFormat.rowLimit ~= rowCount,
      UInt64(rowCount) <= span + 1, byteCount & 7 == 0,
      // The part of a row that is there whatever its values, for all rows but one.
      (rowCount - 1) * schemas[schema].rowLayout.endsOffset <= PackFormat.blockByteLimit,
      Int(byteCount) >= PackBlockHeader.byteCount(columns: types.count)
    else { return false }
    blocks.append(
      BlockEntry(
        schema: schema,
        rowCount: rowCount,
        firstKey: firstKey,
        lastKey: lastKey,
        byteCount: Int(byteCount),
        zoneStart: zones.count
      )
    )
    for type in types {
      guard let zone = ZoneMap(decoding: bytes, &cursor, ZoneMap.order(of: type)) else {
        return false
      }
      zones.append(zone)
    }
    return true
  }
}

// MARK: Parts

extension PackSchema {
  fileprivate func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(table))
    buffer.appendVarint(UInt64(layout.rawValue))
    buffer.appendVarint(UInt64(columns.count))
    for (column, type) in zip(columns, rowLayout.types) {
      buffer.appendVarint(UInt64(column))
      buffer.append(type.rawValue)
    }
  }

  fileprivate init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let table = cursor.varint(UInt16.self, in: bytes),
      let layout = cursor.varint(UInt16.self, in: bytes),
      let count = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    self.table = table
    self.layout = LayoutNumber(layout)
    columns = []
    var types: [ColumnType] = []
    for _ in 0..<count {
      guard let column = cursor.varint(UInt16.self, in: bytes),
        let type = cursor.integer(UInt8.self, in: bytes).flatMap(ColumnType.init(rawValue:))
      else { return nil }
      columns.append(column)
      types.append(type)
    }
    rowLayout = RowLayout(types)
  }
}

extension PackTable {
  fileprivate func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(table))
    buffer.appendVarint(nextKey)
    buffer.appendVarint(UInt64(recordByteCount))
    buffer.appendVarint(UInt64(deletedKeys.count))
    var last: UInt64 = 0
    for run in deletedKeys {
      buffer.appendVarint(run.lowerBound - last)
      buffer.appendVarint(run.upperBound - run.lowerBound)
      last = run.upperBound
    }
  }

  fileprivate init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let table = cursor.varint(UInt16.self, in: bytes), let nextKey = cursor.varint(in: bytes),
      nextKey <= RowReference.maximumKey + 1,
      let recordByteCount = cursor.varint(Int.self, in: bytes),
      recordByteCount <= SegmentUsage.byteLimit
    else { return nil }
    self.table = table
    self.nextKey = nextKey
    self.recordByteCount = recordByteCount
    var last: UInt64 = 0
    let runs = cursor.list(in: bytes) { (bytes, cursor) -> Range<UInt64>? in
      guard let gap = cursor.varint(in: bytes), let length = cursor.varint(in: bytes),
        length > 0, gap <= nextKey - last, length <= nextKey - last - gap
      else { return nil }
      let start = last + gap
      last = start + length
      return start..<last
    }
    guard let runs else { return nil }
    deletedKeys = runs
  }
}

extension DictionaryEntry {
  fileprivate func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(table))
    buffer.appendVarint(UInt64(column))
    buffer.appendVarint(UInt64(valueCount))
    buffer.appendVarint(UInt64(storedByteCount))
    buffer.appendVarint(UInt64(rawByteCount))
    buffer.append(codec.rawValue)
    buffer.append(checksum)
    buffer.append(rawChecksum)
  }

  fileprivate init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let table = cursor.varint(UInt16.self, in: bytes),
      let column = cursor.varint(UInt16.self, in: bytes),
      let valueCount = cursor.varint(Int.self, in: bytes),
      0...DictionaryBuilder.entryLimit ~= valueCount,
      let stored = cursor.varint(UInt32.self, in: bytes),
      let raw = cursor.varint(UInt32.self, in: bytes),
      Int(raw) <= DictionaryBuilder.chunkLimit(valueCount),
      let codec = cursor.integer(UInt8.self, in: bytes).flatMap(ChunkCodec.init(rawValue:)),
      let checksum = cursor.integer(UInt32.self, in: bytes),
      let rawChecksum = cursor.integer(UInt32.self, in: bytes)
    else { return nil }
    self.table = table
    self.column = column
    self.valueCount = valueCount
    storedByteCount = Int(stored)
    rawByteCount = Int(raw)
    self.codec = codec
    self.checksum = checksum
    self.rawChecksum = rawChecksum
  }
}

extension ByteCursor {
  /// Reads a count and as many elements; `nil` if one cannot be read.
  ///
  /// Every element has at least one byte, so a damaged count stops at the end of the bytes.
  fileprivate mutating func list<Element>(
    in bytes: RawSpan,
    _ element: (RawSpan, inout ByteCursor) -> Element?
  ) -> [Element]? {
    guard let count = varint(UInt32.self, in: bytes) else { return nil }
    var elements: [Element] = []
    for _ in 0..<count {
      guard let next = element(bytes, &self) else { return nil }
      elements.append(next)
    }
    return elements
  }
}
