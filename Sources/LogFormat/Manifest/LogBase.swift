import RowFormat

/// The beginning of the log after segments were packed: the information that its first segment's predecessor would have.
///
/// Part of a ``Manifest``. Its numbers are varints, unless a size is given.
///
///     segment       the last segment that was packed,
///     end             the end of the log in it,
///     logPosition     counted over all segments,
///     sequence        the last commit before,
///     chain           4 bytes: the header checksum of the last frame
///     lowWaterMark  the oldest commit that can still be read; rows that later commits replaced are left out
///     catalogue     ``Catalogue``, as of that commit
///     tables        a count, then for each: number, next key, count of rows as of that commit
///     packs         a count, then for each: number, and the byte count its file must have; a row is in
///                   the last of them that has it
package struct LogBase: Hashable, Sendable {
  package var segment: SegmentID
  package var end: Int
  package var logPosition: UInt64
  package var sequence: UInt64
  package var chain: UInt32
  package var lowWaterMark: UInt64 = 0
  package var catalogue: Catalogue
  package var tables: [TableEntry] = []
  package var packs: [PackEntry] = []

  package init(
    segment: SegmentID,
    end: Int,
    logPosition: UInt64,
    sequence: UInt64,
    chain: UInt32,
    lowWaterMark: UInt64 = 0,
    catalogue: Catalogue,
    tables: [TableEntry] = [],
    packs: [PackEntry] = []
  ) {
    self.segment = segment
    self.end = end
    self.logPosition = logPosition
    self.sequence = sequence
    self.chain = chain
    self.lowWaterMark = lowWaterMark
    self.catalogue = catalogue
    self.tables = tables
    self.packs = packs
  }

  package struct TableEntry: Hashable, Sendable {
    package var number: UInt16
    package var nextKey: UInt64
    package var rowCount: Int

    package init(number: UInt16, nextKey: UInt64, rowCount: Int) {
      self.number = number
      self.nextKey = nextKey
      self.rowCount = rowCount
    }
  }

  package struct PackEntry: Hashable, Sendable {
    package var id: PackID
    package var byteCount: Int

    package init(id: PackID, byteCount: Int) {
      self.id = id
      self.byteCount = byteCount
    }
  }
}

// MARK: Codec

extension LogBase {
  package func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(segment.rawValue))
    buffer.appendVarint(UInt64(end))
    buffer.appendVarint(logPosition)
    buffer.appendVarint(sequence)
    buffer.append(chain)
    buffer.appendVarint(lowWaterMark)
    catalogue.encode(into: &buffer)
    buffer.appendVarint(UInt64(tables.count))
    for table in tables {
      buffer.appendVarint(UInt64(table.number))
      buffer.appendVarint(table.nextKey)
      buffer.appendVarint(UInt64(table.rowCount))
    }
    buffer.appendVarint(UInt64(packs.count))
    for pack in packs {
      buffer.appendVarint(UInt64(pack.id.rawValue))
      buffer.appendVarint(UInt64(pack.byteCount))
    }
  }

  package init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let segment = cursor.varint(UInt32.self, in: bytes),
      segment <= SegmentID.maximum.rawValue,
      let end = cursor.varint(Int.self, in: bytes), let logPosition = cursor.counter(in: bytes),
      let sequence = cursor.counter(in: bytes), let chain = cursor.integer(UInt32.self, in: bytes),
      let lowWaterMark = cursor.counter(in: bytes),
      let catalogue = Catalogue(decoding: bytes, &cursor),
      let tableCount = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    self.init(
      segment: SegmentID(rawValue: segment),
      end: end,
      logPosition: logPosition,
      sequence: sequence,
      chain: chain,
      lowWaterMark: lowWaterMark,
      catalogue: catalogue
    )
    for _ in 0..<tableCount {
      guard let number = cursor.varint(UInt16.self, in: bytes),
        let nextKey = cursor.varint(in: bytes), 1...(RowReference.maximumStoredKey + 1) ~= nextKey,
        let rowCount = cursor.varint(Int.self, in: bytes), UInt64(rowCount) < nextKey
      else { return nil }
      tables.append(TableEntry(number: number, nextKey: nextKey, rowCount: rowCount))
    }
    guard let packCount = cursor.varint(UInt32.self, in: bytes) else { return nil }
    for _ in 0..<packCount {
      guard let id = cursor.varint(UInt32.self, in: bytes), id <= SegmentID.maximum.rawValue,
        id > packs.last?.id.rawValue ?? 0, let byteCount = cursor.varint(Int.self, in: bytes)
      else { return nil }
      packs.append(PackEntry(id: PackID(rawValue: id), byteCount: byteCount))
    }
  }
}
