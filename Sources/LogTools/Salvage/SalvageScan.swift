import LogEngine
import LogFormat
import RowFormat
import Synchronization

/// Reads every record of a damaged log, in its order.
struct SalvageScan {
  let files: [SegmentFile]
  /// The numbers of the commits of which something was found, in ranges.
  private(set) var found: [ClosedRange<UInt64>] = []
  private(set) var commitCount = 0
  private(set) var partialCommits: [CommitSequence] = []
  private(set) var lostBytes: [LostBytes] = []

  /// A record, and where it is.
  struct Found {
    let place: RecordPlace
    let header: RecordHeader
    let sequence: UInt64
  }

  /// The frames of a commit that is not complete yet.
  private var group: [FrameDescription] = []

  init(_ files: [SegmentFile]) { self.files = files }

  /// Visits the records, with their bodies.
  mutating func run(_ body: (Found, RawSpan) throws -> Void) throws {
    for (index, file) in files.enumerated() {
      let successor = files[(index + 1)...].lazy.compactMap(\.header).first
      let isNext = successor?.previousSegment == file.segment.id
      try read(file, until: isNext ? successor?.previousEnd : nil, body)
    }
    // The rest of the group was being written when the log ended.
    group.removeAll()
  }

  private mutating func read(
    _ file: SegmentFile,
    until declaredEnd: Int?,
    _ body: (Found, RawSpan) throws -> Void
  ) throws {
    if file.header == nil, !file.isUnfinished {
      lostBytes.append(
        LostBytes(path: file.segment.path, range: 0..<min(SegmentHeader.byteCount, file.byteCount))
      )
    }
    var walk = SegmentWalk(file, until: declaredEnd)
    var isAfterDamage = file.header == nil
    while let part = try walk.next() {
      switch part {
      case .frame(let frame):
        let isExpected = frame.isIntact && (frame.continuesChain || isAfterDamage)
        if declaredEnd == nil, !isExpected, try isTorn(file, from: frame.offset) { return }
        isAfterDamage = false
        file.segment.readableEnd.max(frame.range.upperBound, ordering: .relaxed)
        try take(frame, body)
      case .unreadable(let range):
        if try declaredEnd == nil && isTorn(file, from: range.lowerBound) { return }
        lostBytes.append(LostBytes(path: file.segment.path, range: range))
        isAfterDamage = true
      case .blank(let range):
        guard declaredEnd != nil else { continue }
        lostBytes.append(LostBytes(path: file.segment.path, range: range))
      }
    }
  }

  /// Whether nothing says that the bytes from there on had been on disk.
  private func isTorn(_ file: SegmentFile, from offset: Int) throws -> Bool {
    guard file.header != nil else { return false }
    let tail = try TornTail(in: file.segment, from: offset, to: file.segment.capacity)
    return tail.durableEnd <= file.segment.logPosition(of: offset)
  }
}

// MARK: Commits

extension SalvageScan {
  private mutating func take(
    _ frame: FrameDescription,
    _ body: (Found, RawSpan) throws -> Void
  ) throws {
    guard frame.kind.hasRecords else { return }
    let isContinued =
      frame.kind != .commit && frame.kind != .first && frame.continuesChain
      && group.last?.sequence == frame.sequence
    if !isContinued { try endGroup(isComplete: false, body) }
    group.append(frame)
    guard frame.kind.completesCommit else { return }
    let opens = group.first?.kind == .first || group.first?.kind == .commit
    try endGroup(isComplete: opens, body)
  }

  private mutating func endGroup(
    isComplete: Bool,
    _ body: (Found, RawSpan) throws -> Void
  ) throws {
    guard let sequence = group.first?.sequence else { return }
    var isComplete = isComplete
    for frame in group where try !readRecords(of: frame, body) { isComplete = false }
    group.removeAll(keepingCapacity: true)
    record(sequence.rawValue)
    if isComplete {
      commitCount += 1
    } else if partialCommits.last != sequence {
      partialCommits.append(sequence)
    }
  }

  private mutating func record(_ sequence: UInt64) {
    if let last = found.last, last.upperBound &+ 1 == sequence || last.upperBound == sequence {
      found[found.count - 1] = last.lowerBound...max(sequence, last.upperBound)
    } else {
      found.append(sequence...sequence)
    }
  }

  /// Visits the records of a frame.
  ///
  /// - Returns: Whether all could be read.
  private func readRecords(
    of frame: FrameDescription,
    _ body: (Found, RawSpan) throws -> Void
  ) throws -> Bool {
    guard let file = files.first(where: { $0.segment.id == frame.segment }) else { return false }
    return try file.segment.withPayload(frame.payloadRange) { payload in
      var walk = RecordWalk(payload, isIntact: frame.isIntact)
      while let (offset, header) = walk.next(in: payload) {
        let place = RecordPlace(
          segment: frame.segment,
          offset: frame.payloadRange.lowerBound + offset
        )
        let bytes = payload.extracting(offset..<(offset + header.totalByteCount))
        try body(
          Found(place: place, header: header, sequence: frame.sequence.rawValue),
          bytes.extracting(header.bodyRange)
        )
      }
      return !walk.hasSkipped
    }
  }
}
