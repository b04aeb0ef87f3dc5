import RowFormat
import Synchronization

/// Reads the log back into the index when a store is opened.
struct Replay {
  private let state: StoreState
  /// Where the log ends: what the next segment continues.
  private(set) var end: (segment: Segment?, offset: Int, chain: UInt32, sequence: UInt64) = (
    nil, 0, 0, 0
  )
  private(set) var epoch: UInt32 = 0
  /// Whether the log was closed: only then may its last segment be continued.
  private(set) var isClosed = false
  /// The bytes behind the end that were no whole commit.
  private(set) var tornByteCount = 0

  init(_ state: StoreState) { self.state = state }

  /// Replays every segment in order.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` for damage anywhere but in an end that was never
  ///   acknowledged.
  mutating func run() throws(StorageError) {
    let names = try state.fileSystem.list(state.paths.log) ?? []
    let numbers = names.compactMap { StorePaths.number(in: $0, suffix: StorePaths.segmentSuffix) }
      .sorted()
    for (index, number) in numbers.enumerated() {
      let isLast = index == numbers.count - 1
      let id = try SegmentID(
        checking: number,
        path: state.paths.log,
        offset: 0
      )
      guard let segment = try open(id, isLast: isLast) else { return }
      try checkLink(segment)
      try read(
        segment,
        successor: isLast
          ? nil : try header(of: numbers[index + 1], isLast: index + 2 == numbers.count)
      )
    }
  }

  /// Opens a segment, or returns `nil` for one whose making was interrupted.
  private func open(_ id: SegmentID, isLast: Bool) throws(StorageError) -> Segment? {
    guard let header = try header(of: UInt64(id.rawValue), isLast: isLast) else { return nil }
    let path = state.paths.segment(id)
    let file = try state.fileSystem.open(path, .read)
    let size = try file.size()
    // A reader beside a writer does not map the last segment, which the writer may yet cut to its
    // length.
    let isLive = isLast && state.options.mode != .readWrite
    let segment = try Segment(
      header: header,
      file: file,
      capacity: size,
      readableEnd: size,
      reads: isLive ? .copied : state.options.reads
    )
    state.segments.store(segment, at: Int(id.rawValue))
    return segment
  }

  private func header(of number: UInt64, isLast: Bool) throws(StorageError) -> SegmentHeader? {
    let path = state.paths.segment(SegmentID(rawValue: UInt32(truncatingIfNeeded: number)))
    let file = try state.fileSystem.open(path, .read)
    var buffer = ByteBuffer(capacity: SegmentHeader.byteCount)
    try buffer.append(upTo: SegmentHeader.byteCount) { (room) throws(StorageError) in
      try file.read(into: &room, at: 0)
    }
    do throws(StorageError) {
      let header = try SegmentHeader(decoding: buffer.bytes, path: path)
      guard header.store == state.store else {
        throw .corruption(Corruption(path: path, offset: 32, problem: .missing(.segmentHeader)))
      }
      return header
    } catch {
      // A segment gets its first frame only when its header is on disk: one without a header at the
      // end of the log was being made when the process ended, and holds nothing.
      if isLast, (0..<buffer.count).allSatisfy({ buffer.load(UInt8.self, at: $0) == 0 }) {
        return nil
      }
      throw error
    }
  }

  private func checkLink(_ segment: Segment) throws(StorageError) {
    let header = segment.header
    let expected = end.segment?.id ?? .none
    guard header.previousSegment == expected, header.previousSequence.rawValue == end.sequence,
      end.segment == nil || (header.previousEnd == end.offset && header.previousChain == end.chain)
    else { throw segment.corruption(at: 80, .missing(.segment)) }
  }

  /// Reads the frames of a segment, up to where its successor says it ends, or to the last whole one.
  private mutating func read(
    _ segment: Segment,
    successor: SegmentHeader?
  ) throws(StorageError) {
    epoch = max(epoch, segment.header.epoch)
    let limit = successor?.previousEnd ?? segment.capacity
    guard limit <= segment.capacity else {
      throw segment.corruption(
        at: segment.capacity,
        .truncated(.segment, needed: limit, available: segment.capacity)
      )
    }
    var offset = SegmentHeader.byteCount
    var chain = segment.header.previousChain
    var sequence = segment.header.previousSequence.rawValue
    /// The frames of a commit in several, until its last is seen.
    var group: [(offset: Int, length: Int)] = []
    var groupStart = offset
    while offset < limit {
      guard let frame = try frame(at: offset, limit: limit, in: segment, chain: chain),
        frame.sequence.rawValue == (frame.kind.hasRecords ? sequence + 1 : sequence)
      else { break }
      isClosed = frame.kind == .close
      if !frame.kind.hasRecords {
        chain = frame.headerChecksum
        offset += frame.totalByteCount
        end = (segment, offset, chain, sequence)
        continue
      }
      if group.isEmpty { groupStart = offset }
      group.append((offset + FrameHeader.byteCount, frame.payloadLength))
      chain = frame.headerChecksum
      offset += frame.totalByteCount
      guard frame.kind.completesCommit else { continue }
      for part in group {
        try enter(part, in: segment, sequence: frame.sequence.rawValue)
      }
      group.removeAll()
      sequence = frame.sequence.rawValue
      end = (segment, offset, chain, sequence)
      state.visible.store(sequence, ordering: .relaxed)
    }
    if !group.isEmpty { offset = groupStart }
    if end.segment !== segment {
      isClosed = false
      end = (segment, SegmentHeader.byteCount, segment.header.previousChain, sequence)
    }
    if successor != nil {
      guard end.offset == limit else {
        throw try damage(in: segment, at: offset, limit: limit)
      }
    } else if state.options.mode == .readWrite {
      // Beside a writer the bytes behind the end are commits that are being written right now.
      try judge(segment, from: end.offset)
    }
    if tornByteCount > 0 || offset != end.offset { isClosed = false }
  }

  private func enter(
    _ part: (offset: Int, length: Int),
    in segment: Segment,
    sequence: UInt64
  ) throws(StorageError) {
    do {
      try segment.withBytes(part.offset..<(part.offset + part.length)) {
        try state.enter($0, in: segment, at: part.offset, sequence: sequence)
      }
    } catch let error as StorageError {
      throw error
    } catch {
      throw segment.corruption(at: part.offset, .missing(.payload))
    }
  }

  /// The whole, sound frame at an offset that continues the chain.
  private func frame(
    at offset: Int,
    limit: Int,
    in segment: Segment,
    chain: UInt32?
  ) throws(StorageError) -> FrameHeader? {
    guard offset + FrameHeader.byteCount <= limit else { return nil }
    do {
      return try segment.withBytes(offset..<limit) { bytes in
        guard let header = FrameHeader(decoding: bytes, seed: segment.seed.at(offset)),
          chain == nil || header.chain == chain, header.totalByteCount <= bytes.byteCount
        else { return nil }
        if chain == nil { return header }
        let payload = bytes.extracting(FrameHeader.byteCount..<header.totalByteCount)
        return CRC32C.extend(0, over: payload) == header.payloadChecksum ? header : nil
      }
    } catch let error as StorageError {
      throw error
    } catch {
      throw segment.corruption(at: offset, .missing(.frame))
    }
  }

  /// Says what is wrong with the frame at which reading had to stop.
  private func damage(
    in segment: Segment,
    at offset: Int,
    limit: Int
  ) throws(StorageError) -> StorageError {
    guard let header = try frame(at: offset, limit: limit, in: segment, chain: nil) else {
      return segment.corruption(at: offset, .missing(.frameHeader))
    }
    do {
      let payload = (offset + FrameHeader.byteCount)..<(offset + header.totalByteCount)
      let found = try segment.withBytes(payload) { CRC32C.extend(0, over: $0) }
      if found == header.payloadChecksum {
        return segment.corruption(at: offset, .missing(.frame))
      }
      return segment.corruption(
        at: offset,
        .checksumMismatch(of: .payload, expected: header.payloadChecksum, found: found)
      )
    } catch let error as StorageError {
      return error
    } catch {
      return segment.corruption(at: offset, .missing(.frame))
    }
  }

  /// Decides what the bytes behind the last whole commit are.
  ///
  /// Zeros are space that was never written. A later frame whose writer knew that this place was on
  /// disk proves damage. Anything else is a commit that was never acknowledged, and is dropped.
  private mutating func judge(_ segment: Segment, from offset: Int) throws(StorageError) {
    let position = segment.logPosition(of: offset)
    var at = offset
    var firstByte: Int?
    while at + 8 <= segment.capacity {
      let word = try word(at: at, in: segment)
      if word != 0 {
        if firstByte == nil { firstByte = at }
        if UInt32(truncatingIfNeeded: word) == FrameHeader.magic,
          let frame = try frame(at: at, limit: segment.capacity, in: segment, chain: nil),
          frame.durableEnd > position
        {
          throw segment.corruption(
            at: offset,
            .lostDurableBytes(
              logPosition: position,
              durableUpTo: frame.durableEnd,
              witness: .laterFrame
            )
          )
        }
      }
      at += 8
    }
    if firstByte != nil { tornByteCount = segment.capacity - offset }
  }

  private func word(at offset: Int, in segment: Segment) throws(StorageError) -> UInt64 {
    do {
      return try segment.withBytes(offset..<(offset + 8)) { $0.load(UInt64.self, at: 0) }
    } catch let error as StorageError {
      throw error
    } catch {
      throw segment.corruption(at: offset, .missing(.frame))
    }
  }
}
