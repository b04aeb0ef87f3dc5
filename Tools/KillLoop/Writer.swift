import ArgumentParser
import Foundation
import LogEngine
import RowFormat

/// Commits until it is killed.
struct Writer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "writer",
    abstract: "Commits durably and reports each commit on its output, in eight bytes.",
    shouldDisplay: false
  )

  @Argument var store: String

  func run() throws {
    let engine = try StorageEngine.open(at: store, options: KillScript.options(.readWrite))
    var commit = try KilledStore.check(engine)
    Self.report(commit)
    if commit == 0 {
      try engine.apply(KillScript.catalogue)
      commit = 1
      Self.report(commit)
    }
    var batch = engine.makeBatch()
    while true {
      commit += 1
      try fill(&batch, commit)
      let sequence = try engine.commit(&batch)
      guard sequence.rawValue == UInt64(commit) else {
        throw ValidationError("commit \(commit) was given the number \(sequence.rawValue)")
      }
      Self.report(commit)
    }
  }

  private func fill(_ batch: inout CommitBatch, _ commit: Int) throws {
    insert(commit, commit, into: &batch)
    let changed = commit - 8
    if changed >= 2 {
      let row = KillScript.row(changed, after: commit)
      let columns = ColumnSet(rawValue: 1)
      batch.update(
        reference(changed),
        layout: KillScript.layout,
        changed: columns,
        row: row.span.bytes
      )
    }
    if commit - 64 >= 2 { batch.delete(reference(commit - 64)) }
  }

  private func insert(_ key: Int, _ commit: Int, into batch: inout CommitBatch) {
    let row = KillScript.row(key, after: commit)
    batch.insert(reference(key), layout: KillScript.layout, row: row.span.bytes)
  }

  private func reference(_ key: Int) -> RowReference {
    RowReference(table: KillScript.table, key: UInt64(key))
  }

  /// Tells the parent, in one write that a pipe takes whole.
  static func report(_ commit: Int) {
    withUnsafeBytes(of: UInt64(commit).littleEndian) { bytes in
      _ = write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
