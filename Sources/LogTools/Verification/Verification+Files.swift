import LogEngine
import LogFormat
import RowFormat

// Names and frames.
extension Verification {
  /// Looks for files that do not belong to the store, and reads the manifests.
  mutating func checkNames() throws(StorageError) {
    guard let names = try fileSystem.list(paths.root) else {
      throw .missingStore(path: paths.root)
    }
    let directories = paths.directories.map { String($0.dropFirst(paths.root.count + 1)) }
    for name in names.sorted() {
      let path = paths.root + "/" + name
      if StorePaths.number(in: name, prefix: StorePaths.manifestPrefix) != nil {
        try checkManifest(path)
      } else if !StorePaths.lockNames.contains(name), path != paths.blobs, path != paths.members,
        !directories.contains(name)
      {
        add(path, .orphan)
      }
    }
    for name in (try fileSystem.list(paths.log) ?? []).sorted()
    where StorePaths.number(in: name, suffix: StorePaths.segmentSuffix) == nil {
      add(paths.log + "/" + name, .orphan)
    }
    for name in (try fileSystem.list(paths.temporary) ?? []).sorted()
    where !isOwnWriter || !paths.isInProgress(name) {
      add(paths.temporary(name), .orphan)
    }
    for name in (try fileSystem.list(paths.index) ?? []).sorted() {
      if let number = StorePaths.number(in: name, suffix: StorePaths.checkpointSuffix) {
        try checkCheckpoint(number)
      } else {
        try checkSecondaryIndex(name)
      }
    }
  }

  /// Reads a checkpoint with its pages; what they say is compared with the log through an open store.
  private mutating func checkCheckpoint(_ number: UInt64) throws(StorageError) {
    let files = CheckpointFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    do {
      let file = try CheckpointFile(reading: number, files)
      report.fileCount += 1
      report.byteCount += file.byteCount
      _ = try file.makeTables(.copied)
    } catch StorageError.missingFile {
      // A writer replaced it meanwhile.
    } catch let error as StorageError {
      try Self.rethrowSystemFailure(error)
      add(paths.checkpoint(number), .damagedCheckpoint(error))
    } catch {
      // Nothing above throws anything else.
      preconditionFailure("reading a checkpoint threw \(error)")
    }
  }

  /// Reads the entries of a secondary index; a container compares it with its rows.
  private mutating func checkSecondaryIndex(_ name: String) throws(StorageError) {
    let path = paths.index + "/" + name
    do {
      if StorePaths.number(in: name, suffix: StorePaths.secondaryIndexSuffix) != nil {
        let file = try SecondaryIndexFile(
          path,
          of: nil,
          tables: nil,
          reads: .copied,
          on: fileSystem
        )
        count(file.byteCount)
        try file.verify()
      } else if StorePaths.number(in: name, suffix: StorePaths.wordIndexSuffix) != nil {
        let file = try WordIndexFile(path, of: nil, on: fileSystem)
        count(file.byteCount)
        try file.verify()
      } else {
        add(path, .orphan)
      }
    } catch StorageError.missingFile {
      // A writer replaced it meanwhile.
    } catch let error as StorageError {
      try Self.rethrowSystemFailure(error)
      add(path, .damagedSecondaryIndex(error))
    } catch {
      // Nothing above throws anything else.
      preconditionFailure("reading a secondary index threw \(error)")
    }
  }

  private mutating func count(_ byteCount: Int) {
    report.fileCount += 1
    report.byteCount += byteCount
  }

  private mutating func checkManifest(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      let bytes = try fileSystem.open(path, .read).readAll()
      report.fileCount += 1
      report.byteCount += bytes.count
      _ = try Manifest(decoding: bytes.bytes, path: path)
    } catch .missingFile {
      // A writer replaced it meanwhile.
      return
    } catch {
      try add(error, path: path)
    }
  }

  /// The beginning of the log according to the newest manifest; `nil` if nothing was packed, or none can be read.
  private func readBase() -> LogBase? {
    let files = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    return try? files.readNewest()?.base
  }

  /// Reads every pack the newest manifest names, to its last value.
  private mutating func checkPacks(_ base: LogBase?, of store: StoreIdentifier?) throws {
    let known = base?.packs ?? []
    for summary in known {
      let path = paths.pack(summary.id)
      do {
        guard let store else { continue }
        let pack = try PackReader.open(path, on: fileSystem, pack: summary.id, of: store)
        report.fileCount += 1
        report.byteCount += pack.summary.byteCount
        _ = try pack.verify()
      } catch let error as StorageError {
        try add(error, path: path)
      }
    }
    for id in try PackID.numbers(paths, fileSystem) where !known.contains(where: { $0.id == id }) {
      add(paths.pack(id), .orphan)
    }
  }

  /// Reads every segment.
  mutating func checkSegments() throws {
    let base = readBase()
    let numbers = try LogFiles.numbers(paths, fileSystem)
    // Segments that were packed and not removed yet do not count any more.
    let ids = numbers.filter { $0 > base?.segment ?? .none }
    var files: [SegmentFile] = []
    for id in ids {
      do throws(StorageError) {
        files.append(
          try SegmentFile(id, paths: paths, fileSystem: fileSystem, reads: options.reads)
        )
      } catch .missingFile {
        continue
      } catch {
        try add(error, path: paths.segment(id))
      }
    }
    try checkPacks(base, of: files.lazy.compactMap { $0.header?.store }.first)
    let total = files.reduce(0) { $0 + $1.byteCount }
    var done = 0
    var previous = base?.segment ?? .none
    for (index, file) in files.enumerated() {
      report.fileCount += 1
      report.byteCount += file.byteCount
      progress(MaintenanceProgress(phase: .readingLog, completed: done, total: total))
      let successor = files[(index + 1)...].lazy.compactMap(\.header).first
      if let header = file.header, header.previousSegment != previous {
        add(paths.segment(header.previousSegment), .damaged(.missing(.segment)))
      }
      previous = file.segment.id
      try check(file, successor)
      done += file.byteCount
    }
    progress(MaintenanceProgress(phase: .readingLog, completed: total, total: total))
  }

  private mutating func check(_ file: SegmentFile, _ successor: SegmentHeader?) throws {
    let id = file.segment.id
    if let damage = file.damage {
      if successor == nil, file.isUnfinished {
        if !isOwnWriter { add(file.segment.path, .unfinished) }
        return
      }
      try add(damage, path: file.segment.path)
    }
    report.segmentCount += 1
    let declaredEnd = successor?.previousSegment == id ? successor?.previousEnd : nil
    var walk = SegmentWalk(file, until: declaredEnd)
    if let declaredEnd, declaredEnd > file.byteCount {
      let problem = Corruption.Problem.truncated(
        .segment,
        needed: declaredEnd,
        available: file.byteCount
      )
      add(file.segment.path, at: file.byteCount, .damaged(problem))
    }
    var sequence = file.header?.previousSequence
    var doubted: Int?
    while let part = try walk.next() {
      let start = part.range.lowerBound
      if declaredEnd == nil, file.header != nil, !part.follows(sequence), doubted != start {
        // Bytes after the first bytes of a commit that was never acknowledged were not acknowledged either.
        if try isTorn(file.segment, from: start) {
          let torn = start..<(try walk.endOfWrittenBytes(from: start))
          return add(file.segment.path, at: start, .torn(byteCount: torn.count))
        }
        // The proof may have been written after the frame was looked at; then the frame is there now.
        doubted = start
        walk.goBack()
        continue
      }
      switch part {
      case .frame(let frame): try check(frame, file.segment, &sequence)
      case .unreadable(let range):
        add(file.segment.path, at: range.lowerBound, .skipped(byteCount: range.count))
        sequence = nil
      case .blank(let range):
        guard declaredEnd != nil else { continue }
        add(file.segment.path, at: range.lowerBound, .skipped(byteCount: range.count))
      }
    }
  }

  /// Whether nothing says that the bytes from there on had been on disk.
  private func isTorn(_ segment: Segment, from offset: Int) throws -> Bool {
    let tail = try TornTail(in: segment, from: offset, to: segment.capacity)
    return tail.durableEnd <= segment.logPosition(of: offset)
  }

  private mutating func check(
    _ frame: FrameDescription,
    _ segment: Segment,
    _ sequence: inout CommitSequence?
  ) throws {
    report.frameCount += 1
    if frame.kind.completesCommit { report.commitCount += 1 }
    if sequence != nil, !frame.continuesChain || !frame.follows(sequence) {
      add(segment.path, at: frame.offset, .brokenChain(frame.sequence))
    }
    sequence = frame.sequence
    guard frame.isIntact else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .payload,
        expected: frame.payloadChecksum,
        found: frame.foundPayloadChecksum
      )
      return add(segment.path, at: frame.payloadRange.lowerBound, .damaged(problem))
    }
    guard frame.kind.hasRecords else { return }
    let (count, hasSkipped) = try segment.withPayload(frame.payloadRange) { payload in
      var walk = RecordWalk(payload, isIntact: true)
      var count = 0
      while walk.next(in: payload) != nil { count += 1 }
      return (count, walk.hasSkipped)
    }
    report.recordCount += count
    if hasSkipped {
      add(
        segment.path,
        at: frame.payloadRange.lowerBound,
        .damaged(.inconsistent(.record, table: 0, key: 0))
      )
    }
  }
}

extension SegmentPart {
  /// Whether the part may come after a commit: a valid frame that continues from it, or nothing.
  fileprivate func follows(_ sequence: CommitSequence?) -> Bool {
    switch self {
    case .frame(let frame):
      // After damage there is nothing to continue from.
      frame.isIntact && (sequence == nil || frame.continuesChain && frame.follows(sequence))
    case .unreadable: false
    case .blank: true
    }
  }
}

extension FrameDescription {
  /// Whether the frame's number can follow another's.
  fileprivate func follows(_ previous: CommitSequence?) -> Bool {
    guard let previous else { return true }
    return switch kind {
    case .commit, .first: sequence.rawValue == previous.rawValue &+ 1
    default: sequence == previous
    }
  }
}
