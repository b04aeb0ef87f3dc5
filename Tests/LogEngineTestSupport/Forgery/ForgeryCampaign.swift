import LogEngine
import LogTools
import RowFormat

/// Changes fields of a store and gives it right checksums again, as nobody does but one who means harm,
/// or a bug.
///
/// What is then read may be anything, or an error. But nothing traps, and everything comes to an end.
package enum ForgeryCampaign {
  package static func run(
    seed: UInt64,
    stepCount: Int = 24,
    forgeryCount: Int = 200
  ) -> CampaignResult {
    var result = CampaignResult()
    var random = SeededGenerator(seed: seed).forked(6)
    do {
      let ending: RotTrial.Ending = random.oneIn(2) ? .closed : .killed
      let trial = try RotTrial(seed: seed, stepCount: stepCount, ending: ending)
      let original = ForgedStore(trial.disk)
      for _ in 0..<forgeryCount {
        var forged = original
        let description = forged.forge(using: &random)
        var disk = trial.disk
        forged.write(to: &disk)
        guard result.states.insert(disk.hash).inserted else { continue }
        do {
          try use(disk, trial.options, seed: seed)
        } catch is StorageError {
          continue
        } catch {
          result.report(.forgery, seed, description, error)
        }
      }
    } catch {
      result.report(.forgery, seed, "without a forgery", error)
    }
    return result
  }

  /// Does everything one can do with a store.
  private static func use(_ disk: Disk, _ options: EngineOptions, seed: UInt64) throws {
    var options = options
    for mode in [EngineOptions.Mode.readOnly, .readOnlyUpToDamage, .readWrite] {
      options.mode = mode
      let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
      do {
        let path = WorkloadRun.path
        let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
        defer { try? engine.close() }
        try read(engine)
        try engine.refresh()
        guard mode == .readWrite else { continue }
        try engine.apply([.addTable(name: "after the forgery")])
        try change(engine)
        engine.performBackgroundWork()
        try engine.close()
      } catch is StorageError {
        continue
      }
    }
    let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
    _ = try StorageEngine.verify(at: WorkloadRun.path, fileSystem: fileSystem)
  }

  private static func read(_ engine: StorageEngine) throws {
    let view = engine.makeReadView()
    for table in engine.catalogue.tables {
      _ = view.rowCount(of: table.number)
      do {
        try view.scan(table.number) { _, number, row in
          guard let layout = table.layout(number)?.layout else { return .proceed }
          layout.readAll(row)
          return .proceed
        }
      } catch is StorageError {
        continue
      }
    }
  }

  /// Deletes a row of each table, and inserts one.
  private static func change(_ engine: StorageEngine) throws {
    for table in engine.catalogue.tables {
      guard let layout = table.layout(table.currentLayout)?.layout else { continue }
      var batch = engine.makeBatch()
      var first: UInt64?
      try? engine.scan(table.number) { key, _, _ in
        first = key
        return .stop
      }
      if let first { batch.delete(RowReference(table: table.number, key: first)) }
      let key = engine.reserveKeys(1, in: table.number).lowerBound
      if key <= RowReference.maximumKey {
        var writer = RowWriter()
        writer.begin(layout)
        _ = writer.finish()
        let reference = RowReference(table: table.number, key: key)
        batch.insert(reference, layout: table.currentLayout, row: writer.bytes)
      }
      do {
        try engine.commit(&batch)
      } catch {
        // What a forged store refuses is its own affair.
        continue
      }
    }
  }
}
