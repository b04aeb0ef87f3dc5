import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// Sizes that a file claims under right checksums, before memory is taken for them.
@Suite struct `A size that cannot be, under right checksums` {
  private let layout = LayoutDefinition([.integer, .text])

  private func makePack(rowCount: UInt64 = 300) throws -> TestPack {
    let rows = (1...rowCount).map { key in
      makeRow(layout, key: key) { writer in
        writer.set(0, integer: Int64(key) &* 0x1234_5678_9ABC)
        writer.append(1, text: String(repeating: "x", count: 300))
      }
    }
    var options = PackOptions()
    options.blockByteCount = 1 << 20
    return try TestPack(rows, [layout], options: options)
  }

  /// Changes what the first block says of a chunk, and makes the header's checksum right again.
  private func forge(_ pack: TestPack, chunk: Int, rawByteCount: UInt32) throws {
    var bytes = try pack.bytes
    let reader = try pack.open()
    let block = reader.footer.blocks[0]
    let entry = block.offset + PackBlockHeader.fixedByteCount + chunk * ChunkEntry.byteCount
    let end = block.offset + PackBlockHeader.byteCount(columns: 2)
    bytes.put(rawByteCount, at: entry + 4)
    bytes[entry + 17] = ChunkCodec.lz4.rawValue
    let checksum = CRC32C.extend(
      reader.header.seed.at(block.offset),
      over: bytes.span.bytes.extracting((block.offset + 8)..<end)
    )
    bytes.put(checksum, at: block.offset + 4)
    try pack.write(bytes)
  }

  /// The keys, the integers, the texts.
  @Test(arguments: [(1, 1 << 27), (1, 300 * 8 + 64), (2, 1 << 27), (2, Int(UInt32.max))])
  func `of a column's chunk is refused before it is unpacked`(chunk: Int, byteCount: Int) throws {
    let pack = try makePack()
    try forge(pack, chunk: chunk, rawByteCount: UInt32(byteCount))
    let error = #expect(throws: StorageError.self) { _ = try pack.open().verify() }
    guard case .corruption(let corruption) = error,
      case .invalidField(of: .packColumn, name: "rawByteCount", _, let found) = corruption.problem
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found == UInt64(byteCount))
  }

  @Test func `makes a block damaged once, and not for each of its rows`() throws {
    let pack = try makePack()
    try forge(pack, chunk: 2, rawByteCount: 1 << 23)
    let hooked = HookedFileSystem(pack.fileSystem) { _ in }
    for cache in [nil, BlockCache(byteLimit: 1 << 20)] {
      let reader = try PackReader.open(
        pack.path,
        on: hooked,
        pack: pack.id,
        of: pack.store,
        cache: cache
      )
      let before = hooked.callCount
      for row in 0..<300 {
        #expect(throws: StorageError.self) {
          _ = try reader.rows(at: PackAddress(block: 0, row: row))
        }
      }
      #expect(hooked.callCount - before <= 2)
      var cursor = PackedRowsCursor()
      let place = RecordPlace(pack: pack.id, PackAddress(block: 0, row: 7))
      for _ in 0..<50 {
        #expect(throws: StorageError.self) { _ = try cursor.rows(at: place, of: reader) }
      }
      #expect(hooked.callCount - before <= 2)
    }
  }

  @Test(arguments: [16 << 20, 200 << 20])
  func `of a footer is refused before it is unpacked`(byteCount: Int) throws {
    let pack = try makePack()
    var bytes = try pack.bytes
    let trailer = bytes.count - PackTrailer.byteCount
    bytes.put(UInt32(byteCount + 1), at: trailer + 20)
    bytes[trailer + 52] = ChunkCodec.lz4.rawValue
    let seed = try pack.open().header.seed.at(trailer)
    let checksum = CRC32C.extend(
      seed,
      over: bytes.span.bytes.extracting(trailer..<(trailer + 60))
    )
    bytes.put(checksum, at: trailer + 60)
    try pack.write(bytes)
    let error = #expect(throws: StorageError.self) { _ = try pack.open() }
    guard case .corruption(let corruption) = error,
      case .invalidField(of: .packTrailer, name: "footerRawByteCount", _, _) = corruption.problem
    else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// As many deleted keys as make a footer that LZ4 would shrink to a hundredth.
  @Test func `is none that a writer makes, however well its footer could be compressed`() throws {
    let step: UInt64 = 1 << 26
    let runs = (1...3_500_000 as ClosedRange<UInt64>).map { $0 * step..<($0 * step + 1) }
    let pack = try TestPack([], []) { writer in
      writer.setTable(1, nextKey: RowReference.maximumKey + 1, deletedKeys: runs)
    }
    #expect(pack.summary.byteCount > 16 << 20)
    #expect(try pack.open().footer.tables.first?.deletedKeys.count == runs.count)
  }

  @Test func `of the rows that a dictionary's values make is refused`() {
    var lengths = ByteBuffer(capacity: 1024)
    IntegerCoding.encode([300], into: &lengths)
    for _ in 0..<300 { lengths.append(7 as UInt8) }
    guard let dictionary = PackDictionary(decoding: lengths, count: 1) else {
      Issue.record("no dictionary")
      return
    }
    let schema = PackSchema(
      table: 1,
      layout: LayoutNumber(1),
      columns: [1],
      rowLayout: RowLayout([.text])
    )
    for (rowCount, isTooLarge) in [(1 << 16, true), (1000, false)] {
      let keys = ColumnVector()
      let texts = ColumnVector()
      let empty: [UInt8] = []
      let codes: [UInt8] = [0]
      var source = ColumnContents.Source(
        type: .integer,
        encoding: .dense,
        hasNulls: false,
        rowCount: rowCount
      )
      let hasKeys = keys.contents.decode(empty.span.bytes, source)
      #expect(hasKeys)
      source.type = .text
      source.encoding = .dictionary
      source.dictionary = dictionary
      let hasTexts = texts.contents.decode(codes.span.bytes, source)
      #expect(hasTexts)
      let block = BlockEntry(
        schema: 0,
        rowCount: rowCount,
        firstKey: 1,
        lastKey: UInt64(rowCount),
        byteCount: 80
      )
      #expect(
        PackedRows().fill(from: [keys, texts], of: block, schema, 0..<rowCount) == !isTooLarge
      )
    }
  }

  /// Of columns that are null in all rows nothing is stored, yet they take room in every row.
  @Test func `of rows that hold nothing is refused`() {
    var footer = PackFooter()
    footer.schemas = [
      PackSchema(
        table: 1,
        layout: LayoutNumber(1),
        columns: (1...4000).map { UInt16($0) },
        rowLayout: RowLayout(Array(repeating: .uuid, count: 4000))
      )
    ]
    for (rowCount, isTooLarge) in [(1 << 16, true), (100, false)] {
      footer.blocks = [
        BlockEntry(
          schema: 0,
          rowCount: rowCount,
          firstKey: 1,
          lastKey: UInt64(rowCount),
          byteCount: (PackBlockHeader.byteCount(columns: 4000) + 7) & ~7
        )
      ]
      footer.zones = Array(repeating: ZoneMap(flags: ZoneMap.hasNulls), count: 4000)
      var buffer = ByteBuffer(capacity: 1024)
      footer.encode(into: &buffer)
      let isRefused = PackFooter(decoding: buffer.bytes) == nil
      #expect(isRefused == isTooLarge)
    }
  }

  @Test(arguments: [
    (1 << 45, 1 << 45), (Int(Int64.max), 5), (5, 6), (-1, -1), (5, 5), (1 << 44, 0),
  ])
  func `of what a segment's rows need is refused in a checkpoint`(
    recordByteCount: Int,
    liveByteCount: Int
  ) throws {
    let header = DecoderSamples.header(.checkpoint)
    var usage = SegmentUsage()
    usage.recordByteCount = recordByteCount
    usage.liveByteCount = liveByteCount
    let entry = SegmentUsages.Entry(segment: SegmentID(rawValue: 1), table: 1, usage: usage)
    let checkpoint = Checkpoint(
      number: 1,
      store: header.store,
      lineage: header.store,
      place: LogPlace(
        segment: SegmentID(rawValue: 1),
        offset: 4096,
        frame: 0,
        chain: 0,
        sequence: 0,
        logPosition: 0
      ),
      durableEnd: 0,
      usages: try #require(SegmentUsages(ascending: [entry])),
      catalogue: Catalogue()
    )
    var buffer = ByteBuffer(capacity: 1024)
    checkpoint.encodeMetadata(into: &buffer)
    let isSound = 0...(1 << 44) ~= recordByteCount && 0...recordByteCount ~= liveByteCount
    let isTaken = Checkpoint(decoding: buffer.bytes, header) != nil
    #expect(isTaken == isSound)
  }
}

extension [UInt8] {
  mutating func put(_ value: UInt32, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt32(byte * 8)) }
  }
}
