import LogEngine
import RowFormat
import Terminal

/// Prints what stands in segments, part by part.
struct FramePrinter {
  static let fields = [
    "segment", "offset", "what", "bytes", "commit", "checksum", "state", "time", "author",
    "entity", "key", "layout", "depth", "previous", "columns",
  ]

  private let console: Console
  private let inspection: StoreInspection
  private let store: InspectedStore?
  private let command: Frames
  private var decoder: RowDecoder?
  private var items: ItemPrinter
  private var frameCount = 0
  private var recordCount = 0
  private var names: CatalogueNames
  private var isFirst = true
  /// The first place that is not as it should be.
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

  private var isText: Bool { command.output.format == .text }

  mutating func print(_ segment: SegmentDescription) throws {
    if isText {
      if !isFirst { console.line() }
      isFirst = false
      heading(of: segment).forEach { console.clippedLine($0) }
    }
    if let error = segment.damage {
      note(segment, at: 0, "its header cannot be read")
      if isText {
        console.line("  " + console.styled(error.words, .red))
      }
    }
    var last: Int?
    let logEnd = logEnd(in: segment)
    try inspection.forEachPart(of: segment.segment) { part in
      guard isChosen(part) else { return .proceed }
      let isTorn = logEnd.map { part.range.lowerBound >= $0 } ?? false
      switch part {
      case .frame(let frame): try print(frame, of: segment, isTorn: isTorn)
      case .unreadable(let range):
        if !isTorn { note(segment, at: range.lowerBound, "\(range.count) bytes are no frame") }
        try print(range, of: segment, isTorn ? "torn" : "unreadable")
      case .blank(let range):
        if let end = segment.declaredEnd, range.lowerBound < end {
          note(segment, at: range.lowerBound, "the segment goes on to byte \(end)")
        }
        try print(range, of: segment, "blank")
      }
      last = part.range.upperBound
      return .proceed
    }
    if let end = segment.declaredEnd, end > segment.fileByteCount {
      note(segment, at: segment.fileByteCount, "the segment goes on to byte \(end)")
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

  /// Throws if something was not as it should be.
  func finish(path: String) throws(ToolError) {
    guard let damage else { return }
    throw ToolError(
      "the store is damaged: \(damage.what)",
      place: "\(damage.path), byte \(damage.offset)",
      advice: "`logstore-inspect verify` says what it costs, `salvage` copies what is left",
      status: .damaged
    )
  }

  /// Where the log ends, in its last segment: what stands behind is left of a commit that was never
  /// acknowledged, and no damage.
  private func logEnd(in segment: SegmentDescription) -> Int? {
    guard segment.declaredEnd == nil, let store, store.damage == nil else { return nil }
    let segments = store.engine.statistics().segments
    return segments.first { $0.segment == segment.segment }?.writtenByteCount
  }

  private mutating func note(_ segment: SegmentDescription, at offset: Int, _ what: String) {
    damage = damage ?? (segment.path, offset, what)
  }

  private func isChosen(_ part: SegmentPart) -> Bool {
    guard let range = command.offset else { return true }
    return range.bounds.overlaps(
      UInt64(part.range.lowerBound)...UInt64(part.range.upperBound - 1)
    )
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
    if !isTorn, state != .intact { note(segment, at: frame.offset, state.words(of: frame)) }
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
    guard command.records else { return }
    try inspection.forEachRecord(in: frame) { record, body in
      recordCount += 1
      try print(record, body, of: segment)
      return .proceed
    }
  }

  /// Bytes that are no frame.
  private func print(
    _ range: Range<Int>,
    of segment: SegmentDescription,
    _ what: String
  ) throws {
    guard isText else {
      var items = items
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

  private func place(_ offset: Int) -> String { "\(offset)".leftPadding(to: 10) }

  private func dump(_ range: Range<Int>, of segment: SegmentDescription) throws {
    guard command.hex else { return }
    try inspection.withBytes(of: segment.segment, in: range) { bytes in
      HexDump.forEachLine(of: bytes, at: range.lowerBound) { line in
        console.line("            " + console.styled(line, .faint))
      }
    }
  }
}

// MARK: Records

extension FramePrinter {
  private mutating func print(
    _ record: RecordDescription,
    _ body: RawSpan,
    of segment: SegmentDescription
  ) throws {
    let columns = columns(of: record, body)
    let entity = name(of: record)
    guard isText else { return items.print(item(record, columns, entity)) }
    var line = place(record.address.offset) + "    " + record.kind.name.padding(to: 18)
    line += "\(record.byteCount)".leftPadding(to: 9) + "  crc \(record.checksum.hexadecimal(8))"
    if record.kind != .catalogue { line += "  \(entity.printable)/\(record.reference.key)" }
    if record.kind == .delta { line += "  depth \(record.chainDepth)" }
    if let previous = record.previous {
      line += "  after \(previous.segment.rawValue):\(previous.offset)"
    }
    if !columns.text.isEmpty { line += "  " + columns.text }
    console.clippedLine(line)
    let range = record.address.offset..<(record.address.offset + record.byteCount)
    try dump(range, of: segment)
  }

  private func name(of record: RecordDescription) -> String {
    store?.name(ofTable: record.reference.table) ?? "table \(record.reference.table)"
  }

  /// What a record says of columns or of the catalogue.
  private mutating func columns(
    of record: RecordDescription,
    _ body: RawSpan
  ) -> (text: String, json: JSONValue) {
    switch record.kind {
    case .delta:
      let found = decoder?.cells(
        ofDelta: body,
        layout: record.layout,
        table: record.reference.table
      )
      guard let (names, cells) = found else { return ("", .null) }
      if cells.isEmpty {
        return (names.map(\.printable).joined(separator: ", "), .array(names.map(JSONValue.string)))
      }
      let text = cells.map { "\($0.name.printable) \($0.value.text)" }.joined(separator: ", ")
      return (text, .object(cells.map { .init(name: $0.name, value: $0.value.json) }))
    case .catalogue:
      let changes = CatalogueChange.list(inRecord: body) ?? []
      let words = changes.map { names.words(for: $0) }
      return (words.joined(separator: "; "), .array(words.map(JSONValue.string)))
    case .insert, .delete, .fullImage: return ("", .null)
    }
  }

  private func item(
    _ record: RecordDescription,
    _ columns: (text: String, json: JSONValue),
    _ entity: String
  ) -> JSONValue {
    let isRow = record.kind != .catalogue
    return [
      "segment": .unsigned(UInt64(record.address.segment.rawValue)),
      "offset": .integer(Int64(record.address.offset)), "what": .string("record"),
      "kind": .string("\(record.kind)"), "bytes": .integer(Int64(record.byteCount)),
      "checksum": .string(record.checksum.hexadecimal(8)),
      "entity": isRow ? .string(entity) : .null,
      "key": isRow ? .unsigned(record.reference.key) : .null,
      "layout": .unsigned(UInt64(record.layout.rawValue)),
      "depth": .integer(Int64(record.chainDepth)),
      "previous": record.previous.map {
        .string("\($0.segment.rawValue):\($0.offset)")
      } ?? .null,
      "columns": columns.json,
    ]
  }
}

/// Whether a frame is what was written, where it was written.
enum FrameState: String {
  case intact
  /// The header is right; the payload is not what it says.
  case damagedPayload = "damaged payload"
  /// It does not name the frame before it as its predecessor.
  case brokenChain = "broken chain"
  /// The segment's header is lost, and with it what a frame's checksum starts from.
  case unproven

  init(_ frame: FrameDescription) {
    self =
      if !frame.isIntact {
        .damagedPayload
      } else if !frame.isHeaderProven {
        .unproven
      } else if !frame.continuesChain {
        .brokenChain
      } else {
        .intact
      }
  }

  func words(of frame: FrameDescription) -> String {
    switch self {
    case .damagedPayload:
      "payload crc \(frame.foundPayloadChecksum.hexadecimal(8)), "
        + "expected \(frame.payloadChecksum.hexadecimal(8))"
    default: rawValue
    }
  }
}

extension FrameKind {
  fileprivate func words(_ sequence: CommitSequence) -> String {
    switch self {
    case .commit: "commit \(sequence.rawValue)"
    case .first, .middle, .last: "commit \(sequence.rawValue), \(self) part"
    default: "\(self)"
    }
  }
}
