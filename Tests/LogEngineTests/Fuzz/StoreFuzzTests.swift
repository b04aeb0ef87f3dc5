import LogEngine
import LogEngineTestSupport
import LogTools
import RowFormat
import Testing

/// Whole stores with changes anywhere under right checksums, and everything the library does with one.
@Suite struct `Fuzzing whole stores` {
  @Test(.enabled(if: FuzzRun.isAsked))
  func `finds no input that traps, hangs or takes memory without bound`() throws {
    guard let run = FuzzRun("stores", count: 60) else { return }
    let image = try FuzzedStore.image()
    let forger = StoreForger(image.files)
    let failures = run.run { random in
      var forged = image
      forged.files = forger.forge(using: &random)
      try Self.use(forged, &random)
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  /// What is read may be anything, or an error of the engine: another error is a failure.
  private static func use(_ image: StoreImage, _ random: inout SeededGenerator) throws {
    let uses = [follow, write, verify, salvage, inspect]
    for use in uses {
      let disk = InMemoryFileSystem()
      try image.write(to: disk)
      do {
        try use(disk)
      } catch is StorageError {
        continue
      }
    }
  }

  private static var options: EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    return options
  }

  private static func follow(_ disk: InMemoryFileSystem) throws {
    for mode in [EngineOptions.Mode.readOnly, .readOnlyUpToDamage] {
      var options = options
      options.mode = mode
      do {
        let engine = try StorageEngine.open(
          at: FuzzedStore.path,
          options: options,
          fileSystem: disk
        )
        try read(engine)
        try engine.refresh()
        try read(engine)
      } catch is StorageError {
        continue
      }
    }
  }

  private static func read(_ engine: StorageEngine) throws {
    let view = engine.makeReadView()
    for table in engine.catalogue.tables {
      _ = view.rowCount(of: table.number)
      for key in [1, 7, 40, 61] as [UInt64] {
        try attempt {
          let reference = RowReference(table: table.number, key: key)
          _ = try view.withRow(reference) { row, number in
            guard let layout = table.layout(number)?.layout else { return }
            layout.readAll(row)
          }
        }
      }
      try attempt {
        try view.scan(table.number) { _, number, row in
          guard let layout = table.layout(number)?.layout else { return .proceed }
          layout.readAll(row)
          return .proceed
        }
      }
    }
    try attempt {
      try engine.forEachCommit { commit in
        try commit.forEachChange { _ in .proceed }
        return .proceed
      }
    }
    try attempt { _ = try engine.fileUsage() }
    _ = engine.statistics()
  }

  private static func write(_ disk: InMemoryFileSystem) throws {
    let engine = try StorageEngine.open(at: FuzzedStore.path, options: options, fileSystem: disk)
    try attempt { try engine.apply([.addTable(name: "after")]) }
    for table in engine.catalogue.tables {
      guard let layout = table.layout(table.currentLayout)?.layout else { continue }
      try attempt {
        var batch = engine.makeBatch()
        let key = engine.reserveKeys(1, in: table.number).lowerBound
        guard 1...RowReference.maximumKey ~= key else { return }
        var writer = RowWriter()
        writer.begin(layout)
        _ = writer.finish()
        let reference = RowReference(table: table.number, key: key)
        batch.insert(reference, layout: table.currentLayout, row: writer.bytes)
        try engine.commit(&batch)
      }
    }
    try attempt { try engine.compact() }
    try attempt { try engine.backup(to: "copy") }
    engine.performBackgroundWork()
    try engine.close()
    _ = try StorageEngine.verify(at: FuzzedStore.path, fileSystem: disk)
  }

  private static func verify(_ disk: InMemoryFileSystem) throws {
    for reads in [EngineOptions.ReadMethod.mapped, .copied] {
      _ = try StorageEngine.verify(at: FuzzedStore.path, fileSystem: disk, reads: reads)
    }
  }

  private static func salvage(_ disk: InMemoryFileSystem) throws {
    _ = try StorageEngine.salvage(at: FuzzedStore.path, to: "rescued", fileSystem: disk)
    // What a salvage makes is a sound store, whatever it was made of.
    let report = try StorageEngine.verify(at: "rescued", fileSystem: disk)
    struct Unsound: Error { let problems: [VerificationProblem] }
    if !report.isSound { throw Unsound(problems: report.problems) }
  }

  private static func inspect(_ disk: InMemoryFileSystem) throws {
    let inspection = StoreInspection(at: FuzzedStore.path, fileSystem: disk)
    _ = try inspection.manifests()
    _ = try inspection.segments()
    _ = try inspection.packs()
  }

  private static func attempt(_ body: () throws -> Void) throws {
    do { try body() } catch is StorageError {}
  }
}
