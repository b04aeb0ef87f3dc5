import RowFormat

/// The place of a checkpoint's metadata: the particular fields of its header.
package struct CheckpointExtent: Hashable {
  package var offset: Int
  package var length: Int
  package var checksum: UInt32

  package func encode(into buffer: inout ByteBuffer) {
    buffer.append(UInt64(offset))
    buffer.append(UInt64(length))
    buffer.append(checksum)
  }

  /// Reads the fields from a header's bytes; a number beyond all sizes is clamped.
  package init(decoding header: RawSpan) {
    let start = FileHeader.particularOffset
    offset = Int(clamping: header.load(UInt64.self, at: start))
    length = Int(clamping: header.load(UInt64.self, at: start + 8))
    checksum = header.load(UInt32.self, at: start + 16)
  }

  package init(of metadata: RawSpan, at offset: Int) {
    self.offset = offset
    length = metadata.byteCount
    checksum = CRC32C.extend(0, over: metadata)
  }
}

// MARK: Metadata

extension Checkpoint {
  package func encodeMetadata(into buffer: inout ByteBuffer) {
    lineage.encode(into: &buffer)
    place.encode(into: &buffer)
    buffer.appendVarint(durableEnd)
    usages.encode(into: &buffer)
    catalogue.encode(into: &buffer)
    buffer.appendVarint(UInt64(tables.count))
    for table in tables { table.encode(into: &buffer) }
    if nextBlob.rawValue > 1 { buffer.appendVarint(nextBlob.rawValue) }
  }

  /// Reads the metadata of a file; `nil` if the bytes are not metadata.
  package init?(decoding bytes: RawSpan, _ header: FileHeader) {
    var cursor = ByteCursor(0..<bytes.byteCount)
    guard let lineage = cursor.take(16), let place = LogPlace(decoding: bytes, &cursor),
      let durableEnd = cursor.counter(in: bytes),
      let usages = SegmentUsages(decoding: bytes, &cursor),
      let catalogue = Catalogue(decoding: bytes, &cursor),
      let tableCount = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    number = header.number
    store = header.store
    self.lineage = StoreIdentifier(decoding: bytes, at: lineage.lowerBound)
    self.place = place
    self.durableEnd = durableEnd
    self.usages = usages
    self.catalogue = catalogue
    for _ in 0..<tableCount {
      guard let table = TableImage(decoding: bytes, &cursor),
        table.number > tables.last?.number ?? 0, catalogue.table(table.number) != nil
      else { return nil }
      tables.append(table)
    }
    if cursor.remaining > 0 {
      guard let next = cursor.varint(in: bytes), BlobID(rawValue: next).isValid else { return nil }
      nextBlob = BlobID(rawValue: next)
    }
    guard cursor.remaining == 0, durableEnd >= place.logPosition else { return nil }
  }
}

extension LogPlace {
  func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(segment.rawValue))
    buffer.appendVarint(UInt64(offset))
    buffer.appendVarint(UInt64(frame))
    buffer.append(chain)
    buffer.appendVarint(sequence)
    buffer.appendVarint(logPosition)
  }

  init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let segment = cursor.varint(UInt32.self, in: bytes),
      let offset = cursor.varint(Int.self, in: bytes),
      let frame = cursor.varint(Int.self, in: bytes),
      let chain = cursor.integer(UInt32.self, in: bytes),
      let sequence = cursor.counter(in: bytes), let logPosition = cursor.counter(in: bytes)
    else { return nil }
    self.init(
      segment: SegmentID(rawValue: segment),
      offset: offset,
      frame: frame,
      chain: chain,
      sequence: sequence,
      logPosition: logPosition
    )
  }
}

extension SegmentUsages {
  func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(entries.count))
    for entry in entries {
      buffer.appendVarint(UInt64(entry.segment.rawValue))
      buffer.appendVarint(UInt64(entry.table))
      buffer.appendVarint(UInt64(truncatingIfNeeded: entry.usage.recordByteCount))
      buffer.appendVarint(UInt64(truncatingIfNeeded: entry.usage.liveByteCount))
    }
  }

  init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let count = cursor.varint(in: bytes) else { return nil }
    var entries: [Entry] = []
    for _ in 0..<count {
      guard let segment = cursor.varint(UInt32.self, in: bytes),
        let table = cursor.varint(UInt16.self, in: bytes),
        let recordByteCount = cursor.varint(in: bytes),
        let liveByteCount = cursor.varint(in: bytes),
        liveByteCount <= recordByteCount, recordByteCount <= SegmentUsage.byteLimit
      else { return nil }
      let usage = SegmentUsage(
        recordByteCount: Int(truncatingIfNeeded: recordByteCount),
        liveByteCount: Int(truncatingIfNeeded: liveByteCount)
      )
      entries.append(Entry(segment: SegmentID(rawValue: segment), table: table, usage: usage))
    }
    self.init(ascending: entries)
  }
}

extension Checkpoint.TableImage {
  fileprivate func encode(into buffer: inout ByteBuffer) {
    buffer.appendVarint(UInt64(number))
    buffer.appendVarint(nextKey)
    buffer.appendVarint(UInt64(truncatingIfNeeded: rowCount))
    buffer.appendVarint(UInt64(pages.count))
    var next: UInt64 = 0
    for page in pages {
      buffer.appendVarint(page.number - next)
      buffer.append(page.checksum)
      next = page.number + 1
    }
  }

  fileprivate init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let number = cursor.varint(UInt16.self, in: bytes),
      let nextKey = cursor.varint(in: bytes), 1...(RowReference.maximumStoredKey + 1) ~= nextKey,
      let rowCount = cursor.varint(Int.self, in: bytes),
      let pageCount = cursor.varint(in: bytes)
    else { return nil }
    self.init(number: number, nextKey: nextKey, rowCount: rowCount)
    let end = RowReference.maximumStoredKey / UInt64(Checkpoint.slotsPerPage) + 1
    var next: UInt64 = 0
    var pages: [Checkpoint.PageImage] = []
    // Each takes five bytes at the least.
    pages.reserveCapacity(min(Int(clamping: pageCount), cursor.remaining / 5))
    for _ in 0..<pageCount {
      guard let gap = cursor.varint(in: bytes), next < end, gap < end - next,
        let checksum = cursor.integer(UInt32.self, in: bytes)
      else { return nil }
      pages.append(Checkpoint.PageImage(number: next + gap, checksum: checksum))
      next += gap + 1
    }
    self.pages = pages
    // Every row has a slot in a page.
    guard rowCount <= pages.count * Checkpoint.slotsPerPage, UInt64(rowCount) < nextKey else {
      return nil
    }
  }
}
