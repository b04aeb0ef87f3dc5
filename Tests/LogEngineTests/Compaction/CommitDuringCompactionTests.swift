import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// Between the manifest and the last slot of the index that is moved, a slot still names a segment that is gone;
/// on a large store that is a while.
@Suite struct `A commit between a compaction's manifest and its slots` {
  @Test(arguments: [false, true])
  func `changes some columns of a row that was packed meanwhile`(isChangedFirst: Bool) throws {
    let simulated = SimulatedFileSystem(seed: 6)
    let moment = Moment()
    let hooked = HookedFileSystem(simulated) { try moment.will($0) }
    let store = try SimulatedStore(simulated, hooked: hooked)
    for _ in 0..<6 { try store.insert(60) }
    let before = try store.rows()
    let key: UInt64 = 200
    var isCommitted = false
    moment.begin(
      encode: {
        // Encoded against the row where it stands now.
        var batch = store.engine.makeBatch()
        var changed = ColumnSet()
        changed.insert(0)
        store.withRow(-1, SimulatedStore.text) {
          let row = RowReference(table: 1, key: key)
          batch.update(row, layout: LayoutNumber(1), changed: changed, row: $0)
        }
        moment.batch = consume batch
      },
      commit: {
        guard var batch = moment.batch.take() else { return }
        if isChangedFirst {
          // Nothing has the row any more that the batch was encoded against.
          var other = store.engine.makeBatch()
          var changed = ColumnSet()
          changed.insert(1)
          store.withRow(0, "theirs") {
            let row = RowReference(table: 1, key: key)
            other.update(row, layout: LayoutNumber(1), changed: changed, row: $0)
          }
          try store.engine.commit(&other)
        }
        try store.engine.commit(&batch)
        isCommitted = true
      }
    )
    #expect(try store.engine.compact().report != nil)
    moment.end()
    try hooked.rethrow()
    #expect(isCommitted)
    var after = before
    after[key] = "-1 \(isChangedFirst ? "theirs" : SimulatedStore.text)"
    #expect(try store.rows() == after)
    try store.engine.close()
    #expect(try SimulatedStore(on: store.disk).rows() == after)
  }
}

/// Does something when a compaction's manifest gets its name, and something else when the pack is read next.
private final class Moment: @unchecked Sendable {
  var batch: CommitBatch?
  private var encode: (() throws -> Void)?
  private var commit: (() throws -> Void)?

  func begin(encode: @escaping () throws -> Void, commit: @escaping () throws -> Void) {
    self.encode = encode
    self.commit = commit
  }

  func end() {
    encode = nil
    commit = nil
  }

  func will(_ call: HookedFileSystem.Call) throws {
    if call.operation == .rename, call.path.contains("/manifest."), let encode {
      self.encode = nil
      try encode()
    } else if encode == nil, call.operation == .read, call.path.hasSuffix(".pack"), let commit {
      self.commit = nil
      try commit()
    }
  }
}
