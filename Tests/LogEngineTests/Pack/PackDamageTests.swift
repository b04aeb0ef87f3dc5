import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A damaged pack` {
  private let layout = LayoutDefinition(ColumnType.allCases)

  /// A pack with a bit of everything: several blocks, a dictionary, gaps, nulls.
  private func makePack() throws -> (pack: TestPack, rows: [TestRow]) {
    let rows = (1...24 as ClosedRange<UInt64>).map { key in
      makeRow(layout, key: key < 16 ? key : key * 3) { writer in
        writer.set(0, integer: Int64(key) * 1000)
        writer.set(1, double: key % 2 == 0 ? Double(key) : 1 / Double(key))
        if key % 4 != 0 { writer.set(2, bool: key % 3 == 0) }
        writer.set(3, double: Double(key) * 60)
        writer.set(4, uuid: (key, key &* 0x9E37_79B9_7F4A_7C15))
        writer.set(5, reference: RowReference(table: 2, key: key))
        writer.append(6, text: key % 2 == 0 ? "even" : "odd, and a little longer than that")
        if key % 5 != 0 {
          writer.append(7, bytes: [UInt8](repeating: 7, count: Int(key) * 20).span.bytes)
        }
        writer.append(8, references: (0..<key).map { RowReference(table: 3, key: $0 + 1) })
        writer.append(9, text: "structured \(key)")
        writer.append(10, text: "blob \(key)")
      }
    }
    var options = PackOptions()
    options.blockRowCount = 10
    return (try TestPack(rows, [layout], options: options), rows)
  }

  /// What a reader says of the file: all rows, or `nil` for damage; any other error is thrown.
  private func read(_ pack: TestPack, _ rows: [TestRow]) throws -> [TestRow]? {
    do {
      let reader = try pack.open()
      for row in rows { #expect(try reader.row(row.reference) == row) }
      return try reader.rows()
    } catch let error as StorageError {
      switch error {
      case .corruption(let corruption):
        #expect(corruption.path == pack.path)
        return nil
      case .unsupportedVersion, .unsupportedFeatures: return nil
      default: throw error
      }
    }
  }

  @Test func `is noticed wherever a byte changed, or holds what it held`() throws {
    let (pack, rows) = try makePack()
    let good = try pack.bytes
    var random = SeededGenerator(seed: 1)
    var harmless = 0
    for index in good.indices {
      var bad = good
      bad[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      try pack.write(bad)
      guard let found = try read(pack, rows) else { continue }
      #expect(found == rows, "byte \(index)")
      harmless += 1
    }
    // Only what pads a block to a multiple of eight has no checksum.
    #expect(harmless < 8 * pack.summary.blockCount)
  }

  /// Changes bytes of a chunk, and makes all checksums right again.
  private func forge(
    _ pack: TestPack,
    _ good: [UInt8],
    block number: Int,
    chunk: Int,
    _ change: (inout ArraySlice<UInt8>) -> Void
  ) throws {
    try pack.write(good)
    let reader = try pack.open()
    let block = reader.footer.blocks[number]
    let columnCount = layout.columns.count
    let all = good[block.offset..<(block.offset + block.byteCount)]
    let found = ChunkEntry.read(Array(all).span.bytes, chunk, columnCount: columnCount)
    let (entry, start) = try #require(found)
    var bytes = good
    var stored = bytes[(block.offset + start)..<(block.offset + entry.end)]
    change(&stored)
    bytes.replaceSubrange(stored.indices, with: stored)
    let place = block.offset + PackBlockHeader.fixedByteCount + chunk * ChunkEntry.byteCount
    let checksum = CRC32C.extend(0, over: Array(stored).span.bytes)
    bytes.put(checksum, at: place + 8)
    if entry.codec == .stored { bytes.put(checksum, at: place + 12) }
    if entry.codec == .lz4 {
      // liblz4 fills a match that begins nowhere with what it likes: the checksum stays wrong then.
      var room = [UInt8](repeating: 0, count: entry.rawByteCount)
      let count = unsafe Array(stored).withUnsafeBytes { source in
        unsafe room.withUnsafeMutableBytes { unsafe LZ4Block.decode(source, into: $0) }
      }
      if count == room.count { bytes.put(CRC32C.extend(0, over: room.span.bytes), at: place + 12) }
    }
    let end = block.offset + PackBlockHeader.byteCount(columns: columnCount)
    let header = CRC32C.extend(
      reader.header.seed.at(block.offset),
      over: bytes.span.bytes.extracting((block.offset + 8)..<end)
    )
    bytes.put(header, at: block.offset + 4)
    try pack.write(bytes)
  }

  @Test(arguments: Thoroughness.some(Array(0..<6 as Range<UInt64>)))
  func `gives a row by itself as it gives it among others, or refuses both`(seed: UInt64) throws {
    let (pack, rows) = try makePack()
    let good = try pack.bytes
    var random = SeededGenerator(seed: seed)
    var refusals = 0
    for round in 0..<600 {
      let chunk = Int.random(in: 0...layout.columns.count, using: &random)
      try forge(pack, good, block: round % 3, chunk: chunk) { bytes in
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      let (cutting, whole, measuring) = (try pack.open(), try pack.open(), try pack.open())
      for number in cutting.footer.blocks.indices {
        for row in 0..<cutting.footer.blocks[number].rowCount {
          let address = PackAddress(block: number, row: row)
          let expected = try? whole.rows(at: address)
          let found = try? cutting.row(at: address)
          let outline = try? measuring.outline(at: address)
          #expect(
            outline?.byteCount == expected?.row(row).byteCount,
            "seed \(seed), round \(round)"
          )
          guard let expected, let found else {
            refusals += 1
            #expect((expected == nil) == (found == nil), "seed \(seed), round \(round), row \(row)")
            continue
          }
          let isEqual = found.rows.row(found.index).isEqual(to: expected.row(row))
          #expect(isEqual, "seed \(seed), round \(round), row \(row)")
          #expect(found.rows.reference(found.index) == expected.reference(row))
        }
      }
    }
    #expect(rows.count == 24 && refusals > 0)
  }

  /// The compressor failed, or memory did while it ran: the stored bytes are as they were written.
  @Test func `gives no row of bytes that do not decode to what was packed`() throws {
    let layout = LayoutDefinition([.text, .integer])
    let rows = (1...50 as ClosedRange<UInt64>).map { key in
      makeRow(layout, key: key) { writer in
        writer.append(0, text: String(repeating: "many like it ", count: 20) + "\(key)")
        writer.set(1, integer: Int64(key))
      }
    }
    let pack = try TestPack(rows, [layout])
    var bytes = try pack.bytes
    let reader = try pack.open()
    let block = reader.footer.blocks[0]
    let place = block.offset + PackBlockHeader.fixedByteCount + ChunkEntry.byteCount
    #expect(bytes[place + 17] == ChunkCodec.lz4.rawValue)
    bytes[place + 12] ^= 1
    let end = block.offset + PackBlockHeader.byteCount(columns: 2)
    let header = CRC32C.extend(
      reader.header.seed.at(block.offset),
      over: bytes.span.bytes.extracting((block.offset + 8)..<end)
    )
    bytes.put(header, at: block.offset + 4)
    try pack.write(bytes)
    for cache in [nil, BlockCache(byteLimit: 0), BlockCache(byteLimit: 1 << 20)] {
      let reader = try pack.open(cache: cache)
      for row in rows { #expect(throws: StorageError.self) { try reader.row(row.reference) } }
    }
  }

  @Test func `is noticed at whatever length it is cut off`() throws {
    let (pack, rows) = try makePack()
    let good = try pack.bytes
    for length in 0..<good.count {
      try pack.write(Array(good[..<length]))
      #expect(try read(pack, rows) == nil, "\(length) of \(good.count) bytes")
    }
    try pack.write(good + [0])
    #expect(try read(pack, rows) == nil)
  }

  @Test func `is noticed if a block is in another's place`() throws {
    let layout = LayoutDefinition([.integer])
    let rows = (1...20 as ClosedRange<UInt64>).map { key in
      makeRow(layout, key: key) { $0.set(0, integer: 5) }
    }
    var options = PackOptions()
    options.blockRowCount = 10
    let pack = try TestPack(rows, [layout], options: options)
    let blocks = try pack.open().footer.blocks
    #expect(blocks[0].byteCount == blocks[1].byteCount)
    var bytes = try pack.bytes
    for index in 0..<blocks[0].byteCount {
      bytes.swapAt(blocks[0].offset + index, blocks[1].offset + index)
    }
    try pack.write(bytes)
    #expect(try read(pack, rows) == nil)
  }

  @Test func `is told from a pack of another number or store`() throws {
    let (pack, _) = try makePack()
    let others = [
      (PackID(rawValue: 8), pack.store), (pack.id, StoreIdentifier(low: 0x1234, high: 1)),
    ]
    for (id, store) in others {
      #expect(throws: StorageError.self) {
        try PackReader.open(pack.path, on: pack.fileSystem, pack: id, of: store)
      }
    }
  }

  @Test func `names the file, the place, and what was expected there`() throws {
    let (pack, _) = try makePack()
    var bytes = try pack.bytes
    let block = try pack.open().footer.blocks[1]
    bytes[block.offset + block.byteCount - 9] ^= 0x40
    try pack.write(bytes)
    let error = #expect(throws: StorageError.self) { _ = try pack.open().verify() }
    guard case .corruption(let corruption) = error,
      case .checksumMismatch(of: .packColumn, let expected, let found) = corruption.problem
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(corruption.path == pack.path)
    #expect(block.offset..<(block.offset + block.byteCount) ~= corruption.offset)
    #expect(expected != found)
  }
}

@Suite struct `A chunk that nobody wrote` {
  /// Random and half-random bytes, with the checksums of what was written: no decoder may trap.
  @Test(arguments: ColumnType.allCases, 0..<6 as Range<UInt64>)
  func `is refused, or read within its bounds`(type: ColumnType, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let dictionary = try #require(makeDictionary(["a", "bb", "", "dddd"]))
    let encodings: [ColumnEncoding] = [
      .absent, .plain, .integers, .decimals, .bits, .dictionary, .dense,
    ]
    for _ in 0..<2000 {
      let source = ColumnContents.Source(
        type: type,
        encoding: encodings.randomElement(using: &random) ?? .plain,
        hasNulls: random.oneIn(2),
        rowCount: Int.random(in: 1...70, using: &random),
        dictionary: random.oneIn(5) ? nil : dictionary
      )
      var chunk = ByteBuffer()
      for _ in 0..<Int.random(in: 0...120, using: &random) {
        chunk.append(
          UInt8(truncatingIfNeeded: random.next() >> UInt64.random(in: 0...7, using: &random))
        )
      }
      let vector = ColumnVector()
      let isValid: Bool
      if ColumnContents.keepsChunk(source) {
        isValid = vector.contents.decode(keeping: chunk, source)
      } else {
        isValid = vector.contents.decode(chunk.bytes, source)
      }
      if isValid { readAll(vector, type) }
    }
  }

  private func makeDictionary(_ values: [String]) -> PackDictionary? {
    var chunk = ByteBuffer()
    IntegerCoding.encode(values.map { Int64($0.utf8.count) }, into: &chunk)
    for value in values { chunk.append(utf8: value) }
    return PackDictionary(decoding: chunk, count: values.count)
  }

  private func readAll(_ vector: ColumnVector, _ type: ColumnType) {
    var selection = RowSelection()
    selection.selectAll(vector.count)
    var test = ValueTest { $0.byteCount > 1 }
    for row in 0..<vector.count { _ = vector.isNull(row) }
    switch vector.form {
    case .integers: vector.keep(integers: 0...100, in: &selection)
    case .doubles: vector.keep(doubles: 0...100, in: &selection)
    case .bits: vector.keep(bools: true, in: &selection)
    case .codes, .bytes: vector.keep(where: &test, in: &selection)
    case .identifiers: #expect(vector.identifiers.count == vector.count * 2)
    case .absent, .dense: break
    }
    #expect(selection.selectedCount <= vector.count)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `is no footer either`(seed: UInt64) throws {
    let layout = LayoutDefinition([.integer, .text, .double, .references])
    let rows = (1...50 as ClosedRange<UInt64>).map { key in
      makeRow(layout, key: key) {
        $0.set(0, integer: Int64(key))
        $0.append(1, text: "text")
        $0.set(2, double: 0.1)
      }
    }
    var options = PackOptions()
    options.blockRowCount = 5
    let pack = try TestPack(rows, [layout], options: options) {
      $0.setTable(1, nextKey: 90, deletedKeys: [60..<70, 80..<81])
    }
    let footer = try pack.open().footer
    var whole = ByteBuffer()
    footer.encode(into: &whole)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var changed = ByteBuffer()
      changed.append(whole.bytes)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let offset = Int.random(in: 0..<changed.count, using: &random)
        changed.store(UInt8(truncatingIfNeeded: random.next()), at: offset)
      }
      changed.truncate(
        to: random.oneIn(3) ? Int.random(in: 0...whole.count, using: &random) : whole.count
      )
      guard let found = PackFooter(decoding: changed.bytes) else { continue }
      // What is accepted says again what it said.
      var again = ByteBuffer()
      found.encode(into: &again)
      #expect(PackFooter(decoding: again.bytes) == found)
    }
  }
}
