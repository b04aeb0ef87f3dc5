import ArgumentParser
import LogEngine
import LogTools
import Terminal

/// Packs the log of a store.
struct Compact: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Packs the log: this command writes to the store.",
    discussion: """
      The whole log is rewritten into packs, in which rows are kept by column and compressed; superseded \
      versions and the history of what was packed are dropped. No other process may \
      have the store open for writing. An interruption at any moment leaves the store as it was, or packed.

      EXAMPLES:
        logstore-inspect compact trips.store
        logstore-inspect backup trips.store before.store && logstore-inspect compact trips.store

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  var path: String { store.path }

  func run(in console: Console) throws {
    let path = StorePath.normalized(path)
    let before = try StoreFiles(under: path, on: console.fileSystem)
    let inspection = StoreInspection(at: path, fileSystem: console.fileSystem)
    let oldPacks = Set(try inspection.packs().map(\.pack))
    var options = EngineOptions()
    options.missingStore = .fail
    options.reads = store.reads
    options.background = .caller
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: console.fileSystem)
    let rowCount = engine.statistics().tables.reduce(0) { $0 + $1.rowCount }
    var bar = ProgressBar("packing", total: rowCount, isShown: console.screen.showsProgress)
    let outcome = try engine.compact { progress in
      bar.update(progress.foldedRowCount)
      return .proceed
    }
    bar.finish()
    engine.performBackgroundWork()
    try engine.close()
    let after = try StoreFiles(under: path, on: console.fileSystem)
    let report = outcome.report
    // Not what was written: a compaction of several rounds writes some rows, and packs, twice.
    let newPacks = try inspection.packs().filter { $0.isNamed && !oldPacks.contains($0.pack) }
    let packedRowCount = newPacks.reduce(0) { $0 + ($1.content?.rowCount ?? 0) }
    let facts: JSONValue = [
      "store": .string(self.path), "segments": .integer(Int64(report?.segmentCount ?? 0)),
      "packs": .integer(Int64(report?.packCount ?? 0)),
      "rows": .integer(Int64(packedRowCount)),
      "bytes_before": .integer(Int64(before.byteCount)),
      "bytes_after": .integer(Int64(after.byteCount)),
    ]
    console.printFacts(facts, output.format) {
      guard let report else {
        return outcome == .isHistory
          ? "nothing to pack but history that is to be kept"
          : "nothing to pack: all rows are in packs"
      }
      let packs = report.packCount > 0 ? " and \(report.packCount.counted("pack"))" : ""
      return "packed \(report.segmentCount.counted("segment"))\(packs) into "
        + "\(newPacks.count.counted("pack")) of \(packedRowCount.counted("row")): "
        + "\(before.byteCount.byteCount) before, "
        + "\(after.byteCount.byteCount) after"
    }
  }
}
