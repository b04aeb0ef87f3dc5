import Foundation
import RowFormat
import Testing

@testable import LogFormat

/// The tables of offsets of OnDiskFormat.md.
private struct FormatPage {
  struct Field: Hashable {
    let offset: Int
    let size: Int
    let name: String

    var range: Range<Int> { offset..<(offset + size) }
  }

  private let lines: [Substring]

  init() throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = repository.appending(path: "Sources/LogEngine/LogEngine.docc/OnDiskFormat.md")
    lines = try String(contentsOf: page, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The fields of the first table of offsets below a heading.
  func fields(below heading: String) throws -> [Field] {
    let start = try #require(lines.firstIndex { $0.drop { $0 == "#" } == " \(heading)" })
    let table = lines[start...].drop { !$0.hasPrefix("| Offset | Size | Field |") }.dropFirst(2)
    return table.prefix { $0.hasPrefix("|") }.compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces).replacing(",", with: "") }
      guard cells.count > 3, let offset = Int(cells[1]), let size = Int(cells[2]) else {
        return nil
      }
      return Field(offset: offset, size: size, name: cells[3])
    }
  }
}

/// Something with offsets: how it is encoded, and a change of each field that can be chosen.
private struct Layout<Value> {
  let heading: String
  let value: Value
  let encode: (Value, inout ByteBuffer) -> Void
  let changes: [String: (inout Value) -> Void]
  /// Fields that follow from others, and change along with them.
  let derived: Set<String>
  /// Fields that are the same in whatever is written.
  let constant: Set<String>
  /// Bytes that follow from others and are in another table.
  var seal = 0..<0

  private func bytes(of value: Value) -> [UInt8] {
    var buffer = ByteBuffer(capacity: 8192)
    encode(value, &buffer)
    return (0..<buffer.count).map { buffer.load(UInt8.self, at: $0) }
  }

  /// What of the page and the codec does not agree, in words.
  func contradictions(to page: FormatPage) throws -> [String] {
    let fields = try page.fields(below: heading)
    var found: [String] = []
    let original = bytes(of: value)
    let derivedBytes = [seal] + fields.filter { derived.contains($0.name) }.map(\.range)
    for field in fields where !derived.contains(field.name) && !constant.contains(field.name) {
      guard let change = changes[field.name] else {
        found.append("\(field.name) is on the page and not in the test")
        continue
      }
      var other = value
      change(&other)
      let changed = zip(original, bytes(of: other)).enumerated()
        .filter { $0.element.0 != $0.element.1 }.map(\.offset)
        .filter { offset in !derivedBytes.contains { $0.contains(offset) } }
      if changed.isEmpty { found.append("\(field.name) is not written") }
      if let stray = changed.first(where: { !field.range.contains($0) }) {
        found.append("\(field.name), on the page at \(field.range), changes byte \(stray)")
      }
    }
    for name in changes.keys.sorted() where !fields.contains(where: { $0.name == name }) {
      found.append("\(name) is written and not on the page")
    }
    for name in constant.union(derived).sorted() where !fields.contains(where: { $0.name == name })
    {
      found.append("\(name) is not on the page")
    }
    for (field, next) in zip(fields, fields.dropFirst()) where field.range.upperBound != next.offset
    {
      found.append("\(next.name) does not follow \(field.name)")
    }
    return found
  }
}

private let store = StoreIdentifier(low: 1, high: 2)

@Suite struct `The page of the on-disk format` {
  private let page: FormatPage

  init() throws { page = try FormatPage() }

  @Test func `names the offsets of a segment's header`() throws {
    // The checksum at the end of every header is in another table.
    let seal = try #require(try page.fields(below: "Headers").last { $0.name == "checksum" })
    let layout = Layout(
      heading: "Segment header",
      value: SegmentHeader(
        store: store,
        segment: SegmentID(rawValue: 7),
        salt: 8,
        firstSequence: CommitSequence(9),
        logPosition: 10,
        previousSegment: SegmentID(rawValue: 6),
        previousEnd: 11,
        previousSequence: CommitSequence(12),
        previousChain: 13,
        epoch: 14,
        created: 15
      ),
      encode: { $0.encode(into: &$1) },
      changes: [
        "segment": { $0.segment = SegmentID(rawValue: 0x3F_FFFF) },
        "salt": { $0.salt = ~$0.salt },
        "firstSequence": { $0.firstSequence = CommitSequence(~$0.firstSequence.rawValue) },
        "logPosition": { $0.logPosition = ~$0.logPosition },
        "previousSegment": { $0.previousSegment = SegmentID(rawValue: 0x3F_FFFF) },
        "previousEnd": { $0.previousEnd = Int.max },
        "previousSequence": { $0.previousSequence = CommitSequence(~$0.previousSequence.rawValue) },
        "previousChain": { $0.previousChain = ~$0.previousChain },
        "epoch": { $0.epoch = ~$0.epoch },
        "created": { $0.created = ~$0.created },
      ],
      derived: [],
      constant: ["zero"],
      seal: seal.range
    )
    #expect(try layout.contradictions(to: page) == [])
  }

  @Test func `names the offsets that all headers share`() throws {
    var buffer = ByteBuffer(capacity: 4096)
    FileHeader(kind: .pack, store: store, number: 0, salt: 0, created: 0, features: 1)
      .encode(into: &buffer)
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(
      _ name: String,
      as type: Value.Type
    ) throws -> Value {
      let field = try #require(try page.fields(below: "Headers").first { $0.name == name })
      #expect(field.size == MemoryLayout<Value>.size)
      return buffer.load(type, at: field.offset)
    }
    #expect(try integer("magic", as: UInt64.self) == FileHeader.Kind.pack.rawValue)
    #expect(try integer("formatMajor", as: UInt16.self) == FormatVersion.major)
    #expect(try integer("formatMinor", as: UInt16.self) == FormatVersion.minor)
    #expect(try integer("headerSize", as: UInt32.self) == UInt32(FileHeader.byteCount))
    #expect(try integer("incompatible", as: UInt64.self) == 1)
    #expect(try integer("compatible", as: UInt64.self) == 0)
    let field = try #require(try page.fields(below: "Headers").first { $0.name == "store" })
    #expect(StoreIdentifier(decoding: buffer.bytes, at: field.offset) == store)
    let checksum = CRC32C.extend(0, over: buffer.bytes.extracting(0..<4092))
    #expect(try integer("checksum", as: UInt32.self) == checksum)
  }

  @Test func `names the offsets of a secondary index's header`() throws {
    var header = SecondaryIndexHeader(stamp, wordCount: 1)
    header.directoryChecksum = 5
    header.directoryOffset = 4096
    try checkIndex(
      "Secondary indexes",
      header,
      [
        "wordCount": { $0.wordCount = 0xFFFF_FFFF },
        "directoryChecksum": { $0.directoryChecksum = ~$0.directoryChecksum },
        "directoryOffset": { $0.directoryOffset = .max },
        "blockCount": { $0.blockCount = .max },
        "entryCount": { $0.entryCount = .max },
      ]
    )
  }

  @Test func `names the offsets of the header of an index of words`() throws {
    var header = WordIndexHeader(stamp)
    header.directoryChecksum = 5
    header.directoryOffset = 4096
    try checkIndex(
      "Indexes of words",
      header,
      [
        "runCount": { $0.runCount = 0xFFFF_FFFF },
        "directoryChecksum": { $0.directoryChecksum = ~$0.directoryChecksum },
        "directoryOffset": { $0.directoryOffset = .max },
        "pendingCount": { $0.pendingCount = .max },
      ],
      constant: ["zero"]
    )
  }

  private var stamp: IndexStamp {
    IndexStamp(
      sequence: CommitSequence(1),
      mark: CommitMark(value: 2, segment: .none, offset: 0),
      digest: .init(low: 3, high: 4)
    )
  }

  private func checkIndex<Header: IndexFileHeader>(
    _ heading: String,
    _ header: Header,
    _ changes: [String: (inout Header) -> Void],
    constant: Set<String> = []
  ) throws {
    typealias Value = (file: FileHeader, header: Header)
    let seal = try #require(try page.fields(below: "Headers").last { $0.name == "checksum" })
    var all: [String: (inout Value) -> Void] = [
      "number": { $0.file.number = ~$0.file.number },
      "salt": { $0.file.salt = ~$0.file.salt },
      "created": { $0.file.created = ~$0.file.created },
      "sequence": { $0.header.stamp.sequence = CommitSequence(~1) },
      "mark": { $0.header.stamp.mark = CommitMark(value: ~2, segment: .none, offset: 0) },
      "segment": {
        $0.header.stamp.mark = CommitMark(value: 2, segment: SegmentID(rawValue: .max), offset: 0)
      },
      "offset": { $0.header.stamp.mark = CommitMark(value: 2, segment: .none, offset: .max) },
      "digest": { $0.header.stamp.digest = .init(low: ~3, high: ~4) },
    ]
    for (name, change) in changes { all[name] = { change(&$0.header) } }
    let layout = Layout<Value>(
      heading: heading,
      value: (
        file: FileHeader(kind: Header.kind, store: store, number: 3, salt: 6, created: 7),
        header: header
      ),
      encode: { $0.header.encode($0.file, into: &$1) },
      changes: all,
      derived: [],
      constant: constant,
      seal: seal.range
    )
    #expect(try layout.contradictions(to: page) == [])
  }

  @Test func `names the offsets of a frame's header`() throws {
    let layout = Layout(
      heading: "Frames",
      value: FrameHeader(
        payloadLength: 8,
        kind: .commit,
        sequence: CommitSequence(1),
        durableEnd: 2,
        payloadChecksum: 3,
        chain: 4
      ),
      encode: { $1.append($0, seed: 5) },
      changes: [
        "payloadLength": { $0.payloadLength = 0x7FFF_FFF8 },
        "kind": { $0.kind = .manifest },
        "flags": { $0.flags = 0xFF },
        "sequence": { $0.sequence = CommitSequence(~$0.sequence.rawValue) },
        "durableEnd": { $0.durableEnd = ~$0.durableEnd },
        "payloadChecksum": { $0.payloadChecksum = ~$0.payloadChecksum },
        "chain": { $0.chain = ~$0.chain },
      ],
      derived: ["headerChecksum"],
      constant: ["magic", "zero"]
    )
    #expect(try layout.contradictions(to: page) == [])
  }

  @Test func `names the offsets of a frame that is filled in piece by piece`() throws {
    var whole = ByteBuffer(capacity: 64)
    var pieces = ByteBuffer(capacity: 64)
    pieces.appendZeros(FrameHeader.byteCount)
    pieces.append(0x0123_4567_89AB_CDEF as UInt64)
    pieces.fillFrame(at: 0, kind: .last, payload: FrameHeader.byteCount..<pieces.count)
    _ = pieces.placeFrame(at: 0, sequence: 7, durableEnd: 8, chain: 9, seed: 10)
    let header = FrameHeader(
      payloadLength: 8,
      kind: .last,
      sequence: CommitSequence(7),
      durableEnd: 8,
      payloadChecksum: CRC32C.extend(0, over: 0x0123_4567_89AB_CDEF),
      chain: 9
    )
    whole.append(header, seed: 10)
    for offset in 0..<FrameHeader.byteCount {
      let (one, other) = (whole.load(UInt8.self, at: offset), pieces.load(UInt8.self, at: offset))
      #expect(one == other, "byte \(offset)")
    }
  }

  @Test func `names the offsets of a record's header`() throws {
    let layout = Layout(
      heading: "Records",
      value: (
        header: RecordHeader(
          kind: .delta,
          depth: 1,
          table: 2,
          bodyLength: 8,
          key: 3,
          layout: LayoutNumber(4),
          distance: 8,
          load: 5,
          checksum: 0,
          previous: RecordPlace(rawValue: 6)
        ), length: 8
      ),
      encode: { value, buffer in
        value.header.encode(into: &buffer)
        buffer.appendZeros(8)
        RecordHeader.setLoad(value.header.load, ofRecordAt: 0, in: &buffer)
        RecordHeader.seal(at: 0, bodyLength: value.length, in: &buffer)
      },
      changes: [
        "kind": { $0.header.kind = .fullImage },
        "depth": { $0.header.depth = 0xFF },
        "table": { $0.header.table = 0x7FFF },
        "length": { $0.length = 0x3FFF_FFFF },
        "key": { $0.header.key = 1 << 48 - 1 },
        "layout": { $0.header.layout = LayoutNumber(.max) },
        "distance": { $0.header.distance = RecordHeader.distanceLimit - 8 },
        "load": { $0.header.load = 0xFF },
        "previous": { $0.header.previous = RecordPlace(rawValue: .max) },
      ],
      derived: ["checksum"],
      constant: []
    )
    #expect(try layout.contradictions(to: page) == [])
  }
}
