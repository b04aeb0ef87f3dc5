import LogEngine
import LogFormat
import RowFormat
import Synchronization

/// Checks a store's files against themselves and one another, and the index in memory against them.
///
/// 1. Look at every name in the store's directories.
/// 2. Read every frame and record of every segment, continuing after damage.
/// 3. Build the index anew from the log alone, as far as that leads.
/// 4. Fold every row, read the values in files of their own, and count what the segments keep
///    for rows.
/// 5. Compare the index of an open store, or else the one a checkpoint leads to, with the one just built.
struct Verification {
  let paths: StorePaths
  let fileSystem: any FileSystem
  let options: EngineOptions
  let progress: (MaintenanceProgress) -> Void
  var report = VerificationReport()
  /// Whether the store is open for writing here, so that temporary files and a segment without a header are
  /// work in progress: opening removed those of earlier writers.
  var isOwnWriter = false

  init(
    paths: StorePaths,
    fileSystem: any FileSystem,
    reads: EngineOptions.ReadMethod,
    progress: @escaping (MaintenanceProgress) -> Void
  ) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.progress = progress
    var options = EngineOptions()
    options.mode = .readOnlyUpToDamage
    options.reads = reads
    self.options = options
  }

  /// Checks the files, and an open store against them.
  ///
  /// A writer may exchange files while they are read. So what is found beside changes is looked for again: a
  /// problem is one if nothing changed meanwhile, or if it is found each time.
  mutating func run(_ open: StoreState?) throws {
    var names = fileNames()
    try check(open)
    for _ in 1...Self.repetitionLimit where !report.problems.isEmpty {
      let namesNow = fileNames()
      guard names != namesNow || hasGoneOn(since: report.lastCommit) else { return }
      names = namesNow
      let known = Set(report.problems)
      report = VerificationReport()
      try check(open)
      let isSteady = names == fileNames() && !hasGoneOn(since: report.lastCommit)
      if isSteady { return }
      report.problems.removeAll { !known.contains($0) }
    }
  }

  /// Number of repetitions for a store that changes all the time.
  private static let repetitionLimit = 3

  /// The files of the store, other than values in files of their own, as far as they can be listed.
  private func fileNames() -> Set<String> {
    var found: Set<String> = []
    for directory in [paths.root] + paths.directories {
      // A directory that cannot be listed is reported by the check that looks into it.
      let names = (try? fileSystem.list(directory)) ?? []
      for name in names { found.insert(directory + "/" + name) }
    }
    return found
  }

  /// Whether the log is longer than when it was replayed.
  func hasGoneOn(since commit: CommitSequence) -> Bool {
    let opening = Opening(paths: paths, options: options, fileSystem: fileSystem)
    guard let engine = try? opening.run() else { return false }
    return engine.lastCommit.rawValue > commit.rawValue
  }

  private mutating func check(_ open: StoreState?) throws {
    isOwnWriter = open?.options.mode == .readWrite
    // First the open store, so that the log read after it is at least as long.
    let open = open ?? openFromCheckpoint()
    let view = open.map { ReadView(state: $0) }
    let base = open?.currentBase
    let usage = open.map(\.currentUsages)
    let misplaced = try paths.unexpectedDirectories(on: fileSystem)
    for error in misplaced { try add(error, path: paths.root) }
    // There is no looking into them; and their content is not the store's.
    if !misplaced.isEmpty { return }
    try checkNames()
    try checkSegments()
    guard let rebuilt = try rebuild() else { return }
    try checkRows(of: rebuilt)
    try checkBlobs(of: rebuilt)
    checkUsage(of: rebuilt)
    if let open, let view { try compare(open, view, with: rebuilt) }
    if let usage, usage.0 == rebuilt.currentUsages.sequence,
      base == rebuilt.currentBase
    {
      compare(usage.1, with: rebuilt)
    }
  }

  mutating func add(_ path: String, at offset: Int? = nil, _ kind: VerificationProblem.Kind) {
    report.problems.append(VerificationProblem(path, at: offset, kind))
  }

  /// Records an error as a problem, unless the same place was recorded before.
  ///
  /// - Throws: The error, if it says nothing about the store's bytes.
  mutating func add(_ error: StorageError, path: String) throws(StorageError) {
    try Self.rethrowSystemFailure(error)
    let problem = VerificationProblem(error, path: path)
    let isKnown = report.problems.contains {
      $0.path == problem.path && $0.offset == problem.offset && $0.severity == .damage
    }
    if !isKnown { report.problems.append(problem) }
  }

  /// Throws an error by which the system refuses to let a file be read: a file that was not read cannot be called damaged.
  static func rethrowSystemFailure(_ error: StorageError) throws(StorageError) {
    if error.isSystemFailure { throw error }
  }
}

// MARK: The index, from the log alone

extension Verification {
  /// Opens the store from its checkpoint, if it has one and can be opened so.
  private func openFromCheckpoint() -> StoreState? {
    var options = options
    options.mode = .readOnly
    let opening = Opening(paths: paths, options: options, fileSystem: fileSystem)
    let files = CheckpointFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    guard let numbers = try? files.numbers(), !numbers.isEmpty, let engine = try? opening.run(),
      engine.recovery.checkpoint != nil
    else { return nil }
    return engine.state
  }

  /// Builds the index anew.
  mutating func rebuild() throws -> StoreState? {
    progress(MaintenanceProgress(phase: .replaying, completed: 0, total: report.byteCount))
    defer {
      let total = report.byteCount
      progress(MaintenanceProgress(phase: .replaying, completed: total, total: total))
    }
    do throws(StorageError) {
      let opening = Opening(paths: paths, options: options, fileSystem: fileSystem)
      let engine = try opening.run()
      if let damage = engine.recovery.damage { try add(damage, path: paths.root) }
      report.lastCommit = engine.lastCommit
      return engine.state
    } catch {
      try add(error, path: paths.root)
      return nil
    }
  }

  /// Compares an open store with the log.
  private mutating func compare(
    _ open: StoreState,
    _ view: ReadView,
    with rebuilt: StoreState
  ) throws {
    // A compaction meanwhile may leave out rows that the view sees.
    guard rebuilt.oldestSequence <= view.sequence.rawValue else { return }
    let found = RowReader(state: open, sequence: view.sequence.rawValue)
    let expected = RowReader(state: rebuilt, sequence: view.sequence.rawValue)
    for table in view.catalogue.tables {
      var rowCount = 0
      var key: UInt64 = 0
      while let next = nextKey(from: key, of: table.number, in: [open, rebuilt]) {
        key = next + 1
        let reference = RowReference(table: table.number, key: next)
        let place = try? expected.currentPlace(of: reference)
        if place != nil { rowCount += 1 }
        let isFound = (try? open.files.reading { try found.currentPlace(of: reference) }) == place
        if !isFound, !hasMoved(reference, found, expected) {
          add(paths.root, .wrongLocation(reference))
        }
      }
      let counted = view.rowCount(of: table.number)
      if counted != rowCount {
        add(
          paths.root,
          .wrongRowCount(table: table.number, counted: counted, found: rowCount)
        )
      }
    }
    let catalogue = rebuilt.currentCatalogue
    if rebuilt.newestSequence == view.sequence.rawValue,
      catalogue != view.catalogue
    {
      add(paths.root, .wrongCatalogue)
    }
  }

  /// Whether a row is elsewhere because the log was packed meanwhile, or a follower has not taken that
  /// up: then it is the same row all the same.
  private func hasMoved(
    _ reference: RowReference,
    _ found: RowReader,
    _ expected: RowReader
  ) -> Bool {
    let bases = [found, expected].map { $0.state.currentBase }
    guard bases[0] != bases[1] else { return false }
    do {
      var isSame = false
      let isRow = try found.state.files.reading {
        try found.read(reference) { row, layout in
          let isThere = try expected.read(reference) { other, otherLayout in
            isSame = layout == otherLayout && row.hasSameBytes(as: other)
          }
          isSame = isSame && isThere
        }
      }
      return try isRow ? isSame : expected.place(of: reference) == nil
    } catch {
      return false
    }
  }

  /// The next key that any of the states knows.
  private func nextKey(from key: UInt64, of table: UInt16, in states: [StoreState]) -> UInt64? {
    states.compactMap { state in
      state.tables[Int(table)].flatMap { $0.pages.next(from: key, to: $0.pages.keyLimit)?.key }
    }
    .min()
  }

  private mutating func compare(_ usages: SegmentUsages, with rebuilt: StoreState) {
    let expected = rebuilt.currentUsages.usages
    compareLiveBytes(counted: usages.liveBytes, found: expected.liveBytes)
  }
}

extension RowReader {
  /// Returns the place of a row, which its slot may not name yet: that of its file before it was packed.
  fileprivate func currentPlace(of reference: RowReference) throws -> RecordPlace? {
    try place(of: reference).flatMap { try state.resolve($0, of: reference) }
  }
}

extension RawSpan {
  fileprivate func hasSameBytes(as other: RawSpan) -> Bool {
    byteCount == other.byteCount
      && (0..<byteCount).allSatisfy { load(UInt8.self, at: $0) == other.load(UInt8.self, at: $0) }
  }
}
