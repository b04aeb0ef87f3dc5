import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

/// Every decoder of the format, on its own: on bytes that a change away are right, and on noise.
@Suite struct `Fuzzing decoders` {
  enum Decoder: String, CaseIterable {
    case segmentHeader, fileHeader, frame, record, commit, manifest, checkpoint, catalogue
    case catalogueChanges, blobHeader, blobReference, packTrailer, packFooter, packColumn
    case dictionary, lz4, row, delta
  }

  @Test(.enabled(if: FuzzRun.isAsked), arguments: Decoder.allCases)
  func `finds no bytes that trap one, or make it take memory without bound`(
    decoder: Decoder
  ) throws {
    guard let run = FuzzRun(decoder.rawValue, count: 2000) else { return }
    let samples = try DecoderSamples()
    let failures = run.run { random in
      var bytes = random.oneIn(6) ? [] : samples.bytes(for: decoder)
      if bytes.isEmpty {
        bytes = ByteMutation.noise(upTo: 300, using: &random)
      } else if random.oneIn(2) {
        ByteMutation.mutate(&bytes, using: &random)
      } else {
        ByteMutation.poke(&bytes, in: 0..<bytes.count, using: &random)
      }
      samples.seal(&bytes, for: decoder)
      Self.decode(decoder, bytes, &random)
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  private static func decode(
    _ decoder: Decoder,
    _ bytes: [UInt8],
    _ random: inout SeededGenerator
  ) {
    let span = bytes.span.bytes
    var cursor = ByteCursor(0..<bytes.count)
    switch decoder {
    case .segmentHeader: _ = try? SegmentHeader(decoding: span, path: "")
    case .fileHeader: _ = try? FileHeader(decoding: span, .pack, path: "")
    case .frame: _ = FrameHeader(decoding: span, seed: 0)
    case .record:
      guard let header = RecordHeader(decoding: span) else { return }
      _ = header.isIntact(in: span)
      _ = span.extracting(header.bodyRange)
    case .commit:
      guard let payload = CommitPayload(decoding: span) else { return }
      _ = payload.author(in: span)
      var walk = RecordWalk(span, isIntact: random.oneIn(2))
      while walk.next(in: span) != nil {}
    case .manifest: _ = try? Manifest(decoding: span, path: "")
    case .checkpoint: _ = Checkpoint(decoding: span, DecoderSamples.header(.checkpoint))
    case .catalogue: _ = Catalogue(decoding: span, &cursor)
    case .catalogueChanges:
      var catalogue = Catalogue()
      for change in CatalogueChange.decodeList(span) ?? [] { try? catalogue.apply(change) }
    case .blobHeader: _ = try? BlobFileHeader(decoding: span, path: "")
    case .blobReference: _ = BlobValue(decoding: span, in: 0..<bytes.count)
    case .packTrailer:
      guard bytes.count >= PackTrailer.byteCount else { return }
      _ = try? PackTrailer(decoding: span, seed: 0, fileByteCount: 1 << 20, path: "")
    case .packFooter: _ = PackFooter(decoding: span)
    case .packColumn:
      let source = randomSource(&random)
      let vector = ColumnVector()
      if ColumnContents.keepsChunk(source) {
        var chunk = ByteBuffer(capacity: 64)
        chunk.append(span)
        _ = vector.contents.decode(keeping: chunk, source)
      } else {
        _ = vector.contents.decode(span, source)
      }
    case .dictionary:
      var chunk = ByteBuffer(capacity: 64)
      chunk.append(span)
      let count = Int.random(in: 0...64, using: &random)
      guard let dictionary = PackDictionary(decoding: chunk, count: count) else { return }
      for code in 0..<dictionary.count { _ = dictionary.value(code) }
    case .lz4:
      var buffer = ByteBuffer(capacity: 64)
      let count = Int.random(in: 0...1 << 20, using: &random)
      try? LZ4.decompress(span, count: count, into: &buffer)
    case .row:
      let layout = randomLayout(&random)
      if layout.isValid(span) { layout.readAll(span) }
    case .delta:
      let layout = randomLayout(&random)
      var writer = RowWriter()
      writer.begin(layout)
      _ = writer.finish()
      var result = RowWriter()
      if let range = RowDelta.apply(span, to: writer.bytes, layout: layout, into: &result) {
        let isValid = layout.isValid(result.bytes.extracting(range))
        #expect(isValid)
      }
    }
  }

  private static func randomLayout(_ random: inout SeededGenerator) -> RowLayout {
    RowLayout(
      (0..<Int.random(in: 0...12, using: &random)).map { _ in
        ColumnType.allCases.randomElement(using: &random) ?? .integer
      }
    )
  }

  private static func randomSource(_ random: inout SeededGenerator) -> ColumnContents.Source {
    ColumnContents.Source(
      type: ColumnType.allCases.randomElement(using: &random) ?? .integer,
      encoding: ColumnEncoding(rawValue: UInt8.random(in: 0...6, using: &random)) ?? .plain,
      hasNulls: random.oneIn(2),
      rowCount: Int.random(in: 1...200, using: &random)
    )
  }
}

/// Right bytes for each decoder, cut out of a store, and the checksums that keep changed ones plausible.
struct DecoderSamples {
  private var samples: [`Fuzzing decoders`.Decoder: [UInt8]] = [:]

  init() throws {
    let files = try FuzzedStore.image().files
    func file(_ suffix: String) -> [UInt8] {
      files.filter { $0.key.contains(suffix) }.min { $0.key < $1.key }?.value ?? []
    }
    let segment = file(".seg")
    samples[.segmentHeader] = Array(segment.prefix(4096))
    samples[.fileHeader] = Array(file(".pack").prefix(4096))
    samples[.manifest] = file("/manifest.")
    samples[.blobHeader] = Array(file(".blob").prefix(64))
    samples[.packTrailer] = Array(file(".pack").suffix(64))
    if segment.count > 4136 {
      let length = Int(segment.span.bytes.load(UInt32.self, at: 4104))
      samples[.frame] = Array(segment[4096..<4136])
      samples[.commit] = Array(segment[4136..<(4136 + length)])
      samples[.record] = Array(segment[4144..<(4136 + length)])
    }
    let checkpoint = file(".ckpt")
    if !checkpoint.isEmpty {
      let extent = CheckpointExtent(decoding: checkpoint.span.bytes)
      samples[.checkpoint] = Array(checkpoint[extent.offset...])
    }
    samples[.catalogue] = Self.bytes { buffer in
      var catalogue = Catalogue()
      for change in Self.changes { try? catalogue.apply(change) }
      catalogue.encode(into: &buffer)
    }
    samples[.catalogueChanges] = Self.bytes { buffer in
      for change in Self.changes { change.encode(into: &buffer) }
    }
    samples[.packFooter] = Self.bytes { Self.footer.encode(into: &$0) }
    samples[.packColumn] = Self.bytes { IntegerCoding.encode([1, 5, 9, 1 << 40], into: &$0) }
    samples[.dictionary] = Self.bytes { buffer in
      IntegerCoding.encode([1, 2, 3], into: &buffer)
      for byte in 1...6 as ClosedRange<UInt8> { buffer.append(byte) }
    }
    samples[.lz4] = Self.bytes { buffer in
      let source = [UInt8](repeating: 9, count: 1000)
      _ = LZ4.compress(source.span.bytes, upTo: 1000, into: &buffer)
    }
  }

  private static let changes: [CatalogueChange] = [
    .addTable(name: "one"), .addColumn(table: 1, name: "a", type: .integer, isNullable: false),
    .addColumn(table: 1, name: "b", type: .text, isNullable: true),
    .setLayout(table: 1, columns: [1, 2]), .renameColumn(table: 1, column: 2, to: "c"),
    .retireColumn(table: 1, column: 1), .setLayout(table: 1, columns: [2]),
    .renameTable(1, to: "first"), .setMetadata(key: "k", value: [1, 2, 3]),
    .addTable(name: "two"), .removeTable(2),
  ]

  private static let footer: PackFooter = {
    var footer = PackFooter()
    footer.lastSequence = 9
    footer.schemas = [
      PackSchema(table: 1, layout: LayoutNumber(1), columns: [1], rowLayout: RowLayout([.integer]))
    ]
    footer.tables = [PackTable(table: 1, nextKey: 100, recordByteCount: 10, deletedKeys: [3..<9])]
    footer.blocks = [BlockEntry(schema: 0, rowCount: 5, firstKey: 1, lastKey: 5, byteCount: 200)]
    footer.zones = [ZoneMap(integers: [1, 5], nullCount: 0)]
    return footer
  }()

  static func header(_ kind: FileHeader.Kind) -> FileHeader {
    FileHeader(
      kind: kind,
      store: StoreIdentifier(low: 1, high: 2),
      number: 1,
      salt: 3,
      created: 4
    )
  }

  private static func bytes(_ body: (inout ByteBuffer) -> Void) -> [UInt8] {
    var buffer = ByteBuffer(capacity: 256)
    body(&buffer)
    return buffer.bytes.withUnsafeBytes { Array($0) }
  }

  func bytes(for decoder: `Fuzzing decoders`.Decoder) -> [UInt8] { samples[decoder] ?? [] }

  /// Makes the checksums right that a decoder asks for first.
  func seal(_ bytes: inout [UInt8], for decoder: `Fuzzing decoders`.Decoder) {
    func put(_ checksum: UInt32, at offset: Int) {
      for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: checksum >> (byte * 8)) }
    }
    func checksum(_ range: Range<Int>, _ seed: UInt32 = 0) -> UInt32 {
      CRC32C.extend(seed, over: bytes.span.bytes.extracting(range))
    }
    switch decoder {
    case .segmentHeader, .fileHeader:
      if bytes.count >= 4096 { put(checksum(0..<4092), at: 4092) }
    case .manifest:
      guard bytes.count >= 4136 else { return }
      put(checksum(0..<4092), at: 4092)
      guard let header = try? FileHeader(decoding: bytes.span.bytes, .manifest, path: "") else {
        return
      }
      let end = 4136 + Int(bytes.span.bytes.load(UInt32.self, at: 4104))
      if end <= bytes.count { put(checksum(4136..<end), at: 4128) }
      put(checksum(4104..<4136, header.seed.at(4096)), at: 4100)
    case .frame: if bytes.count >= 40 { put(checksum(8..<40), at: 4) }
    case .blobHeader, .packTrailer: if bytes.count >= 64 { put(checksum(0..<60), at: 60) }
    default: break
    }
  }
}
