import LogEngine
import LogTools
import RowFormat
import Terminal

/// Prints the contents of segments, part by part.
struct FramePrinter {
  static let fields = [
    "segment", "offset", "what", "bytes", "commit", "checksum", "state", "time", "author",
    "entity", "key", "layout", "depth", "previous", "columns",
  ]

  let console: Console
  private let inspection: StoreInspection
  let store: InspectedStore?
  private let command: Frames
  var decoder: RowDecoder?
  var items: ItemPrinter
  private var frameCount = 0
  private var recordCount = 0
  var names: CatalogueNames
  private var isFirst = true
  /// The first place with damage.
  private var damage: (path: String, offset: Int, what: String)?

  init(
    _ inspection: StoreInspection,
    _ store: InspectedStore?,
    _ command: Frames,
    _ console: Console
  ) {
    self.console = console
    self.inspection = inspection
    self.store = store
    self.command = command
    decoder = store.map { RowDecoder(of: $0) }
    // From the first commit on names are those of the time; from a later one, of today.
    let isWhole = command.segments.isEmpty && command.offset == nil
    names = isWhole ? CatalogueNames() : CatalogueNames(store?.catalogue ?? Catalogue())
    items = ItemPrinter(console, command.output.format, fields: Self.fields)
  }

  var isText: Bool { command.output.format == .text }

  mutating func print(_ segment: SegmentDescription) throws {
    if isText {
      if !isFirst { console.line() }
      isFirst = false
      heading(of: segment).forEach { console.clippedLine($0) }
    }
    if let error = segment.damage {
      recordDamage(segment, at: 0, "its header cannot be read")
      if isText {
        console.line("  " + console.styled(error.words, .red))
      }
    }
    var last: Int?
    let logEnd = logEnd(in: segment)
    try inspection.forEachPart(of: segment.segment) { part in
      guard isChosen(part.range) else { return .proceed }
      let isTorn = logEnd.map { part.range.lowerBound >= $0 } ?? false
      switch part {
      case .frame(let frame): try print(frame, of: segment, isTorn: isTorn)
      case .unreadable(let range):
        if !isTorn {
          recordDamage(segment, at: range.lowerBound, "\(range.count) bytes are no frame")
        }
        try print(range, of: segment, isTorn ? "torn" : "unreadable")
      case .blank(let range):
        if let end = segment.declaredEnd, range.lowerBound < end {
          recordDamage(segment, at: range.lowerBound, "the segment goes on to byte \(end)")
        }
        try print(range, of: segment, "blank")
      }
      last = part.range.upperBound
      return .proceed
    }
    if let end = segment.declaredEnd, end > segment.fileByteCount {
      recordDamage(segment, at: segment.fileByteCount, "the segment goes on to byte \(end)")
    }
    if isText, last == nil { console.line("  nothing") }
  }

  /// Prints the sum of what was shown.
  func end() {
    items.end()
    guard isText else { return }
    console.line()
    let records = command.records ? ", \(recordCount.counted("record"))" : ""
    console.line(frameCount.counted("frame") + records)
  }

  /// Throws if there was damage.
  func finish(path: String) throws(ToolError) {
    guard let damage else { return }
    throw ToolError(
      "the store is damaged: \(damage.what)",
      place: "\(damage.path), byte \(damage.offset)",
      advice: "`logstore-inspect verify` says what it costs, `salvage` copies what is left",
      status: .damaged
    )
  }

  /// The end of the log, in its last segment: the bytes after it are the rest of a commit that was never
  /// acknowledged, and no damage.
  private func logEnd(in segment: SegmentDescription) -> Int? {
    guard segment.declaredEnd == nil, let store, store.damage == nil else { return nil }
    let segments = store.engine.statistics().segments
    return segments.first { $0.segment == segment.segment }?.writtenByteCount
  }

  private mutating func recordDamage(_ segment: SegmentDescription, at offset: Int, _ what: String)
  {
    damage = damage ?? (segment.path, offset, what)
  }

  private func isChosen(_ part: Range<Int>) -> Bool {
    guard let range = command.offset, !part.isEmpty else { return true }
    return range.bounds.overlaps(UInt64(part.lowerBound)...UInt64(part.upperBound - 1))
  }
}

// MARK: Frames

extension FramePrinter {
  private func heading(of segment: SegmentDescription) -> [String] {
    let number = console.styled("segment \(segment.segment.rawValue)", .bold)
    var lines = ["\(number)  \(segment.path)  \(segment.fileByteCount.byteCount)"]
    if let header = segment.header {
      let created = Timestamp(microseconds: header.created)
      lines.append(
        "  begun \(created), commits from \(header.firstCommit.rawValue), log position "
          + "\(header.logPosition), opening \(header.epoch)"
      )
    }
    if let end = segment.declaredEnd {
      lines.append("  ends at byte \(end), as its successor says")
    }
    return lines
  }

  private mutating func print(
    _ frame: FrameDescription,
    of segment: SegmentDescription,
    isTorn: Bool
  ) throws {
    frameCount += 1
    let state = FrameState(frame)
    if !isTorn, state != .intact { recordDamage(segment, at: frame.offset, state.words(of: frame)) }
    let origin = try inspection.origin(of: frame)
    if isText {
      var line = place(frame.offset) + "  " + frame.kind.words(frame.sequence).padding(to: 20)
      line +=
        "\(frame.range.count)".leftPadding(to: 9) + "  crc \(frame.headerChecksum.hexadecimal(8))"
      switch state {
      case .intact: line += console.styled("  ok", .green)
      default: line += "  " + console.styled(state.words(of: frame), .red)
      }
      if let origin { line += "  \(Timestamp(microseconds: origin.microseconds))" }
      if let author = origin?.author { line += "  by \(author.printable)" }
      console.clippedLine(line)
      try dump(frame.offset..<frame.payloadRange.lowerBound, of: segment)
    } else {
      items.print([
        "segment": .unsigned(UInt64(segment.segment.rawValue)),
        "offset": .integer(Int64(frame.offset)), "what": .string("frame"),
        "kind": .string("\(frame.kind)"), "commit": .unsigned(frame.sequence.rawValue),
        "bytes": .integer(Int64(frame.range.count)),
        "checksum": .string(frame.headerChecksum.hexadecimal(8)),
        "payload_checksum": .string(frame.payloadChecksum.hexadecimal(8)),
        "chain": .string(frame.chain.hexadecimal(8)),
        "durable_end": .unsigned(frame.durableEnd), "state": .string("\(state)"),
        "time": origin.map { .string("\(Timestamp(microseconds: $0.microseconds))") } ?? .null,
        "author": origin?.author.map(JSONValue.string) ?? .null,
      ])
    }
    if command.records, frame.kind.hasRecords { try printRecords(of: frame, in: segment) }
  }

  /// Records, and between those of a damaged frame the bytes that are none any more.
  private mutating func printRecords(
    of frame: FrameDescription,
    in segment: SegmentDescription
  ) throws {
    var end = frame.payloadRange.lowerBound + Self.payloadHeaderByteCount
    try inspection.forEachRecord(in: frame) { record, body in
      let offset = record.address.offset
      if offset > end { try printGap(end..<offset, of: segment) }
      end = offset + record.byteCount
      guard isChosen(offset..<end) else { return .proceed }
      recordCount += 1
      try print(record, body, of: segment)
      return .proceed
    }
    // An author's name may follow the last record.
    if !frame.isIntact, frame.payloadRange.upperBound - end >= Self.leastRecordByteCount {
      try printGap(end..<frame.payloadRange.upperBound, of: segment)
    }
  }

  /// Number of bytes of a payload before its records.
  private static let payloadHeaderByteCount = 8
  private static let leastRecordByteCount = 24

  private mutating func printGap(_ range: Range<Int>, of segment: SegmentDescription) throws {
    if isChosen(range) { try print(range, of: segment, "unreadable", indent: "    ") }
  }

  /// Bytes that are no frame.
  private mutating func print(
    _ range: Range<Int>,
    of segment: SegmentDescription,
    _ what: String,
    indent: String = "  "
  ) throws {
    guard isText else {
      return items.print([
        "segment": .unsigned(UInt64(segment.segment.rawValue)),
        "offset": .integer(Int64(range.lowerBound)), "what": .string(what),
        "bytes": .integer(Int64(range.count)),
      ])
    }
    let style: Style = what == "unreadable" ? .red : .faint
    let words = console.styled(what.padding(to: 20), style)
    console.clippedLine(
      place(range.lowerBound) + "  " + words + "\(range.count)".leftPadding(to: 9)
    )
    if what != "blank" { try dump(range, of: segment) }
  }

  func place(_ offset: Int) -> String { "\(offset)".leftPadding(to: 10) }

  func dump(_ range: Range<Int>, of segment: SegmentDescription) throws {
    guard command.hex else { return }
    try inspection.withBytes(of: segment.segment, in: range) { bytes in
      HexDump.forEachLine(of: bytes, at: range.lowerBound) { line in
        console.line("            " + console.styled(line, .faint))
      }
    }
  }
}

extension FrameKind {
  fileprivate var hasRecords: Bool { [.commit, .first, .middle, .last].contains(self) }

  fileprivate func words(_ sequence: CommitSequence) -> String {
    switch self {
    case .commit: "commit \(sequence.rawValue)"
    case .first, .middle, .last: "commit \(sequence.rawValue), \(self) part"
    default: "\(self)"
    }
  }
}
