import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// A reader may be between two records of a row when a compaction takes both.
@Suite struct `A row that is read while a compaction ends` {
  private static let row = RowReference(table: 1, key: 1)
  private let engine: StorageEngine

  init() throws {
    var options = MemoryStore.options()
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    engine = try StorageEngine.open(
      at: "store",
      options: options,
      fileSystem: InMemoryFileSystem()
    )
    try engine.apply([
      .addTable(name: "lists"),
      .addColumn(table: 1, name: "list", type: .references, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    try commit { $0.insert(Self.row, layout: LayoutNumber(1), row: $1) }
    // A list that grows by one is spliced: the change is none of a row that has it already.
    try commit(101) { $0.update(Self.row, layout: LayoutNumber(1), changed: .all, row: $1) }
    for key in 2...300 as ClosedRange<UInt64> {
      try commit {
        $0.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: $1)
      }
    }
  }

  private func commit(
    _ count: UInt64 = 100,
    _ change: (inout CommitBatch, RawSpan) -> Void
  ) throws {
    var writer = RowWriter()
    writer.begin(RowLayout([.references]))
    writer.append(0, references: (1...count).map { RowReference(table: 1, key: $0) })
    let range = writer.finish()
    var batch = engine.makeBatch()
    change(&batch, writer.bytes.extracting(range))
    try engine.commit(&batch)
  }

  @Test func `has each change once`() throws {
    let location = try #require(engine.state.tables[1]).pages.location(of: Self.row.key)
    let writer = try engine.requireWriter()
    while writer.housekeeper.isSweepingBlobs { engine.performBackgroundWork() }
    let compactor = try engine.makeFoldedCompactor()
    try #require(compactor.plan.takes(location))
    var scratch = FoldScratch()
    var beginnings = 0
    var steps: [Int] = []
    _ = try engine.state.fold(
      location.place,
      Self.row,
      into: &scratch,
      begin: { beginnings += 1 },
      { _, header in
        steps.append(Int(header.depth))
        // The newest record has been read, the one that it builds on has not.
        if steps == [1] {
          do { _ = try compactor.step(1 << 20) } catch { Issue.record(error) }
        }
      }
    )
    #expect(compactor.isPublished)
    #expect(RowLayout([.references]).range(0, in: scratch.row).count == 101 * 8)
    #expect(beginnings > 1)
    #expect(steps.last == 0)
  }
}
