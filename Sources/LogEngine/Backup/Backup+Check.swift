import LogFormat
import RowFormat

// Reading a copy before it counts as one.
//
// Whatever was wrong with the place of the cut, or with the files, shows while the original is still there: a copy is read
// only once the original is lost.
extension Backup {
  /// Reads the headers of the copied segments, and every frame of the last one, which must end with the last commit of the cut.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the log of the copy is not that of the cut.
  /// - Complexity: O(bytes of the last segment), and one header for each other segment.
  func checkLog() throws(StorageError) {
    let files = try LogFiles(
      paths: destination,
      fileSystem: fileSystem,
      mode: .readWrite,
      after: cut.base?.segment ?? .none
    )
    var end = Recovery.End(cut.base)
    for (copied, limit) in cut.segments {
      let path = destination.segment(copied.id)
      guard let header = files.headers.first(where: { $0.segment == copied.id }) else {
        throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.segmentHeader)))
      }
      let successor = files.headers.first { $0.previousSegment == copied.id }
      let isLast = successor == nil
      let segment = try open(header, at: path, to: limit, isLast ? state.options.reads : .copied)
      try end.checkLink(to: segment)
      if let successor {
        end.pass(segment, upTo: successor)
      } else {
        end.move(to: try scan(segment, from: end, to: limit))
      }
      guard !isLast || end.offset == limit else {
        throw segment.corruption(at: end.offset, lost(after: end.logPosition))
      }
    }
    guard end.sequence == cut.sequence.rawValue, end.logPosition == cut.logPosition else {
      throw .corruption(
        Corruption(path: destination.log, offset: 0, problem: lost(after: end.logPosition))
      )
    }
  }

  /// Reads the copy's manifest.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if it is not the one that was written.
  func checkManifest(_ written: Manifest) throws(StorageError) {
    let files = ManifestFiles(paths: destination, fileSystem: fileSystem, synchronizes: true)
    if try files.readNewest() == written { return }
    throw .corruption(
      Corruption(
        path: destination.manifest(written.number),
        offset: 0,
        problem: .missing(.manifest)
      )
    )
  }

  private func open(
    _ header: SegmentHeader,
    at path: String,
    to limit: Int,
    _ reads: ReadMethod
  ) throws(StorageError) -> Segment {
    let file = try fileSystem.open(path, .read)
    let size = try file.size()
    guard size >= limit else {
      let problem = Corruption.Problem.truncated(.segment, needed: limit, available: size)
      throw .corruption(Corruption(path: path, offset: size, problem: problem))
    }
    return try Segment(
      header: header,
      file: file,
      capacity: limit,
      readableEnd: limit,
      reads: reads
    )
  }

  /// Reads the frames of the last segment.
  private func scan(
    _ segment: Segment,
    from end: Recovery.End,
    to limit: Int
  ) throws(StorageError) -> FrameScan {
    var scan = FrameScan(
      segment,
      from: SegmentHeader.byteCount,
      to: limit,
      chain: end.chain,
      sequence: end.sequence
    )
    do {
      while try scan.next({ _, _, _ in }) {}
      return scan
    } catch let error as StorageError {
      throw error
    } catch {
      // Nothing above throws anything else.
      preconditionFailure("reading a copy threw \(error)")
    }
  }

  private func lost(after position: UInt64) -> Corruption.Problem {
    .lostDurableBytes(logPosition: position, durableUpTo: cut.logPosition, witness: .manifest)
  }
}

extension Recovery.End {
  /// Passes over a segment whose end its successor declares.
  fileprivate mutating func pass(_ segment: Segment, upTo successor: SegmentHeader) {
    self.segment = segment
    offset = successor.previousEnd
    chain = successor.previousChain
    sequence = successor.previousSequence.rawValue
    logPosition = segment.logPosition(of: successor.previousEnd)
  }
}
