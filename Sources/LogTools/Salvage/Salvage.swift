import LogEngine
import LogFormat
import RowFormat
import Synchronization

/// Collects the readable part of a damaged store, and writes it to a new one.
///
/// 1. Read every pack and every record there is, beyond damage, and note the place of each row's newest
///    version.
/// 2. Work out the catalogue.
/// 3. Fold each row from its newest record; if that fails, from an earlier one.
/// 4. Write rows and catalogue to the new store, under their old numbers.
///
/// The source is not written to.
struct Salvage {
  let source: StorePaths
  let destination: String
  let fileSystem: any FileSystem
  let permissions: StorePermissions
  let progress: (MaintenanceProgress) -> Void
  /// The places of rows in the source, and their layouts.
  let state: StoreState
  var report = SalvageReport()
  /// The newest manifest that can be read.
  var manifest: Manifest?
  /// The catalogue from a manifest or a checkpoint, and its commit.
  var keptCatalogue: (sequence: UInt64, catalogue: Catalogue)?
  var catalogueChanges: [(sequence: UInt64, changes: [CatalogueChange]?)] = []
  /// The packs that could be opened, ascending.
  var packs: [PackReader] = []
  /// The last commit whose rows were packed.
  var packedSequence: UInt64 = 0
  /// The facts that the new store has to express in commits of its own.
  var renumbered = RenumberedStore(Catalogue())

  init(
    source: StorePaths,
    destination: String,
    fileSystem: any FileSystem,
    permissions: StorePermissions,
    reads: EngineOptions.ReadMethod,
    progress: @escaping (MaintenanceProgress) -> Void
  ) {
    self.source = source
    self.destination = destination
    self.fileSystem = fileSystem
    self.permissions = permissions
    self.progress = progress
    var options = EngineOptions()
    options.reads = reads
    state = StoreState(
      paths: source,
      fileSystem: fileSystem,
      options: options,
      store: StoreIdentifier(low: 0, high: 0)
    )
  }

  mutating func run() throws {
    guard try fileSystem.list(source.root) != nil else {
      throw StorageError.missingStore(path: source.root)
    }
    try requireFiles()
    try removeUnfinished()
    try Backup.check(destination, on: fileSystem)
    let isNew = try fileSystem.list(destination) == nil
    try findManifest()
    try readCheckpoints()
    try readPacks()
    var scan = SalvageScan(try openSegments())
    try readRecords(&scan)
    try requireContent(scan)
    let catalogue = makeCatalogue()
    state.adopt(catalogue)
    do {
      try write(catalogue, scan.files)
    } catch {
      // The remains would look like a store that holds nothing, and keep a second attempt out.
      try? StoreRemoval(paths: StorePaths(root: destination), fileSystem: fileSystem).run(
        includesRoot: isNew
      )
      throw error
    }
  }

  /// Refuses a folder in which nothing looks like a store: an empty store made of it would mislead.
  private func requireFiles() throws(StorageError) {
    let manifests = ManifestFiles(paths: source, fileSystem: fileSystem, synchronizes: false)
    let checkpoints = CheckpointFiles(paths: source, fileSystem: fileSystem, synchronizes: false)
    guard try manifests.numbers().isEmpty, try checkpoints.numbers().isEmpty,
      try LogFiles.numbers(source, fileSystem).isEmpty,
      try PackID.numbers(source, fileSystem).isEmpty
    else { return }
    throw .missingStore(path: source.root)
  }

  /// Refuses a store of which nothing can be read, not even that it was empty.
  private func requireContent(_ scan: SalvageScan) throws(StorageError) {
    if keptCatalogue != nil || !packs.isEmpty || !scan.found.isEmpty { return }
    throw report.damage.first
      ?? .corruption(Corruption(path: source.root, offset: 0, problem: .missing(.manifest)))
  }

  /// Records damage that keeps a file, or a part of it, from being read.
  ///
  /// - Throws: The error, if the system refuses to let the file be read: then it is not lost.
  mutating func recordDamage(_ error: StorageError) throws(StorageError) {
    if error.isSystemFailure { throw error }
    report.damage.append(error)
  }

  /// Removes the remains of an earlier salvage that was cut off.
  private func removeUnfinished() throws(StorageError) {
    let paths = StorePaths(root: destination)
    let files = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: true)
    guard let left = try? files.readNewest(), left.application == Manifest.unfinishedSalvage else {
      return
    }
    // Unless it is at work.
    guard let lock = try fileSystem.lock(paths.lock) else {
      throw StoreHolders(paths, fileSystem).refusal()
    }
    defer { withExtendedLifetime(lock) {} }
    try StoreRemoval(paths: paths, fileSystem: fileSystem).run(includesRoot: false)
  }
}

// MARK: Reading

extension Salvage {
  private mutating func findManifest() throws {
    let files = ManifestFiles(paths: source, fileSystem: fileSystem, synchronizes: false)
    for number in try files.numbers().reversed() {
      let path = source.manifest(number)
      do throws(StorageError) {
        let bytes = try fileSystem.open(path, .read).readAll()
        let manifest = try Manifest(decoding: bytes.bytes, path: path)
        self.manifest = manifest
        keptCatalogue = (manifest.sequence.rawValue, manifest.catalogue)
        return
      } catch {
        try recordDamage(error)
      }
    }
  }

  /// Takes from the checkpoints what the log may have lost.
  ///
  /// They supply the catalogue and the used keys; the log itself supplies the places of rows.
  private mutating func readCheckpoints() throws(StorageError) {
    let files = CheckpointFiles(paths: source, fileSystem: fileSystem, synchronizes: false)
    for number in try files.numbers() {
      do throws(StorageError) {
        let checkpoint = try CheckpointFile(reading: number, files).checkpoint
        if checkpoint.place.sequence >= keptCatalogue?.sequence ?? 0 {
          keptCatalogue = (checkpoint.place.sequence, checkpoint.catalogue)
        }
        for image in checkpoint.tables { table(image.number)?.recordKey(image.nextKey - 1) }
      } catch {
        try recordDamage(error)
      }
    }
  }

  private mutating func openSegments() throws -> [SegmentFile] {
    var files: [SegmentFile] = []
    // The segments left by a compaction that did not come to its end are in the packs.
    for id in try LogFiles.numbers(source, fileSystem) where !state.files.isRetired(id) {
      do throws(StorageError) {
        let file = try SegmentFile(
          id,
          paths: source,
          fileSystem: fileSystem,
          reads: state.options.reads
        )
        files.append(file)
        state.files.segments.store(file.segment, at: Int(id.rawValue))
      } catch {
        try recordDamage(error)
      }
    }
    for file in files {
      if let damage = file.damage, !file.isUnfinished { try recordDamage(damage) }
    }
    return files
  }

  /// Notes the place of each row's newest record.
  private mutating func readRecords(_ scan: inout SalvageScan) throws {
    let total = scan.files.reduce(0) { $0 + $1.byteCount }
    progress(MaintenanceProgress(phase: .readingLog, completed: 0, total: total))
    try scan.run { found, body in
      let header = found.header
      if header.kind == .catalogue {
        catalogueChanges.append((found.sequence, CatalogueChange.decodeList(body)))
      } else if let table = table(header.table), header.isPlausible {
        table.recordKey(header.key)
        let location = RecordLocation(
          segment: found.place.segment,
          offset: found.place.offset,
          kind: header.kind,
          depth: Int(header.depth)
        )
        table.pages.store(location, for: header.key, sequence: found.sequence)
      }
    }
    progress(MaintenanceProgress(phase: .readingLog, completed: total, total: total))
    report.commitCount = scan.commitCount
    report.partialCommits = scan.partialCommits
    report.lostBytes = scan.lostBytes
    report.lastCommit = CommitSequence(max(packedSequence, scan.found.last?.upperBound ?? 0))
    var next = packedSequence + 1
    for range in scan.found {
      if range.lowerBound > next {
        let last = CommitSequence(range.lowerBound - 1)
        report.lostCommits.append(CommitSequence(next)...last)
      }
      next = max(next, range.upperBound &+ 1)
    }
    // A manifest or a checkpoint may know of commits whose segment is missing or cannot be read.
    if let known = keptCatalogue?.sequence, known >= next {
      report.lostCommits.append(CommitSequence(next)...CommitSequence(known))
    }
  }

  /// The table with a number, which is made if need be.
  func table(_ number: UInt16) -> Table? {
    guard 1...UInt16(Int16.max) ~= number else { return nil }
    if let known = state.tables[Int(number)] { return known }
    let table = Table(number: number)
    state.tables.store(table, at: Int(number))
    return table
  }
}

extension RecordHeader {
  fileprivate var isPlausible: Bool {
    1...RowReference.maximumStoredKey ~= key && Int(depth) <= RecordLocation.maximumDepth
  }
}

// MARK: The catalogue

extension Salvage {
  /// Puts the catalogue together, from its changes if none can be missing, and otherwise from the newest
  /// that a manifest or a checkpoint kept, and the changes after it.
  private mutating func makeCatalogue() -> Catalogue {
    let isWhole = report.lostCommits.isEmpty && report.partialCommits.isEmpty
    // The changes of packed commits are gone; their sum is in the manifest.
    if isWhole, let base = packedSequence == 0 ? Catalogue() : manifest?.base?.catalogue,
      let catalogue = apply(catalogueChanges.filter { $0.sequence > packedSequence }, to: base)
    {
      return catalogue
    }
    var (known, catalogue) = keptCatalogue ?? (0, Catalogue())
    report.isCatalogueComplete =
      known >= packedSequence
      && !report.lostCommits.contains { $0.upperBound.rawValue > known }
      && !report.partialCommits.contains { $0.rawValue > known }
    for (sequence, changes) in catalogueChanges where sequence > known {
      for change in changes ?? [] {
        do throws(StorageError) {
          try catalogue.apply(change)
        } catch {
          report.isCatalogueComplete = false
        }
      }
      if changes == nil { report.isCatalogueComplete = false }
    }
    return catalogue
  }

  private func apply(
    _ list: [(sequence: UInt64, changes: [CatalogueChange]?)],
    to catalogue: Catalogue
  ) -> Catalogue? {
    var catalogue = catalogue
    for (_, changes) in list {
      guard let changes else { return nil }
      for change in changes {
        do throws(StorageError) { try catalogue.apply(change) } catch { return nil }
      }
    }
    return catalogue
  }
}
