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
    let moment = try Moment(seed: 6)
    let store = moment.store
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
    try moment.compact()
    #expect(isCommitted)
    var after = before
    after[key] = "-1 \(isChangedFirst ? "theirs" : SimulatedStore.text)"
    #expect(try store.rows() == after)
    try store.engine.close()
    #expect(try SimulatedStore(on: store.disk).rows() == after)
  }

  @Test(arguments: [false, true])
  func `changes many rows, of which most were packed meanwhile`(isRevised: Bool) throws {
    let moment = try Moment(seed: 7)
    let store = moment.store
    var after = try store.rows()
    let keys = after.keys.filter { $0 % 3 == 0 }.sorted()
    // Some rows get so many changes that they are written whole again.
    for number in 1...6 {
      let some = keys.filter { $0 % UInt64(number) == 0 }
      var batch = try store.batch(changing: some, to: number, isRevised: isRevised)
      try store.engine.commit(&batch)
      for key in some { after[key] = "\(number) \(SimulatedStore.text)" }
    }
    #expect(try store.rows() == after)
    var isCommitted = false
    moment.begin(
      encode: { moment.batch = try store.batch(changing: keys, to: 7, isRevised: isRevised) },
      commit: {
        guard var batch = moment.batch.take() else { return }
        try store.engine.commit(&batch)
        isCommitted = true
      }
    )
    try moment.compact()
    #expect(isCommitted)
    for key in keys { after[key] = "7 \(SimulatedStore.text)" }
    #expect(try store.rows() == after)
    let reopened = try SimulatedStore(on: store.disk)
    #expect(try reopened.rows() == after)
    #expect(reopened.usages == store.usages)
  }
}

@Suite struct `A commit that is encoded before another changes its row and a compaction packs it` {
  private static let layout = RowLayout([.integer, .integer, .references])
  private static let row = RowReference(table: 1, key: 1)

  private static func withRow(
    _ first: Int64,
    _ second: Int64,
    _ list: [UInt64],
    _ body: (RawSpan) -> Void
  ) {
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: first)
    writer.set(1, integer: second)
    writer.append(2, references: list.map { RowReference(table: 1, key: $0) })
    let range = writer.finish()
    body(writer.bytes.extracting(range))
  }

  @Test(arguments: [[0], [2], [0, 2]])
  func `replaces its columns as a whole, and leaves the others`(own: [Int]) throws {
    var options = EngineOptions()
    options.background = .caller
    options.compactionPolicy.slackByteCount = 1
    let engine = try StorageEngine.open(
      at: "/store",
      options: options,
      fileSystem: SimulatedFileSystem(seed: 3)
    )
    try engine.apply([
      .addTable(name: "lists"),
      .addColumn(table: 1, name: "first", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "second", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "list", type: .references, isNullable: false),
      .setLayout(table: 1, columns: [1, 2, 3]),
    ])
    let old = (1...200).map(UInt64.init)
    var batch = engine.makeBatch()
    Self.withRow(0, 0, old) { batch.insert(Self.row, layout: LayoutNumber(1), row: $0) }
    try engine.commit(&batch)
    // Mine: one more member at the end.
    var mine = engine.makeBatch()
    let changed = own.reduce(into: ColumnSet()) { $0.insert($1) }
    Self.withRow(7, 0, old + [1000]) {
      mine.update(Self.row, layout: LayoutNumber(1), changed: changed, row: $0)
    }
    // Theirs: another number, and fifty members fewer in the front.
    Self.withRow(5, 8, Array(old.dropFirst(50))) {
      batch.update(Self.row, layout: LayoutNumber(1), changed: .all, row: $0)
    }
    try engine.commit(&batch)
    #expect(try engine.compact().report != nil)
    #expect(engine.state.tables[1]?.pages.location(of: 1).isPacked == true)
    try engine.commit(&mine)
    var found: (Int64, Int64, [UInt64])?
    try engine.scan(1) { _, _, row in
      found = (
        Self.layout.integer(0, in: row), Self.layout.integer(1, in: row),
        Self.layout.references(2, in: row).map(\.key)
      )
      return .proceed
    }
    let (first, second, list) = try #require(found)
    #expect(first == (own.contains(0) ? 7 : 5))
    #expect(second == 8)
    #expect(list == (own.contains(2) ? old + [1000] : Array(old.dropFirst(50))))
  }
}

extension SimulatedStore {
  fileprivate func batch(
    changing keys: [UInt64],
    to number: Int,
    isRevised: Bool
  ) throws -> CommitBatch {
    var batch = engine.makeBatch()
    var changed = ColumnSet()
    changed.insert(0)
    if isRevised {
      let rest = try batch.revise(1, keys: keys, layout: LayoutNumber(1), changed: changed) {
        $1.overwrite(Int64(number), at: layout.offset(of: 0), ofRowAt: 0)
        return true
      }
      #expect(rest.isEmpty)
    } else {
      withRow(Int64(number), SimulatedStore.text) { row in
        for key in keys {
          let reference = RowReference(table: 1, key: key)
          batch.update(reference, layout: LayoutNumber(1), changed: changed, row: row)
        }
      }
    }
    return batch
  }
}

/// A store of some segments that does something when a compaction's manifest gets its name, and something else when the pack
/// is read next.
private final class Moment {
  let store: SimulatedStore
  var batch: CommitBatch?
  private let hooked: HookedFileSystem
  private let script = Script()

  init(seed: UInt64) throws {
    let simulated = SimulatedFileSystem(seed: seed)
    hooked = HookedFileSystem(simulated) { [script] in try script.will($0) }
    store = try SimulatedStore(simulated, hooked: hooked)
    for _ in 0..<6 { try store.insert(60) }
  }

  func begin(encode: @escaping () throws -> Void, commit: @escaping () throws -> Void) {
    script.encode = encode
    script.commit = commit
  }

  /// Compacts the store, and throws what was thrown at the moment.
  func compact() throws {
    #expect(try store.engine.compact().report != nil)
    script.encode = nil
    script.commit = nil
    try hooked.rethrow()
  }
}

/// What is still to be done.
private final class Script: @unchecked Sendable {
  var encode: (() throws -> Void)?
  var commit: (() throws -> Void)?

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
