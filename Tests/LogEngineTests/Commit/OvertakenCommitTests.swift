import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine

@Suite struct `A commit that others overtake` {
  private let engine: StorageEngine

  init() throws {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    engine = try StorageEngine.open(
      at: "/store",
      options: options,
      fileSystem: InMemoryFileSystem()
    )
    try engine.apply([
      .addTable(name: "numbers"),
      .addColumn(table: 1, name: "first", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "second", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1, 2]),
    ])
    var batch = engine.makeBatch()
    let layout = RowLayout([.integer, .integer])
    for key in engine.reserveKeys(10, in: 1) {
      Self.withRow(layout, 0, 0) {
        batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: $0)
      }
    }
    _ = try engine.commit(&batch)
  }

  private static func withRow(
    _ layout: RowLayout,
    _ first: Int64,
    _ second: Int64,
    _ body: (RawSpan) -> Void
  ) {
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: first)
    writer.set(1, integer: second)
    let range = writer.finish()
    body(writer.bytes.extracting(range))
  }

  private static func update(
    _ column: Int,
    of keys: ClosedRange<UInt64>,
    to value: Int64,
    in batch: inout CommitBatch
  ) {
    var changed = ColumnSet()
    changed.insert(column)
    for key in keys {
      withRow(RowLayout([.integer, .integer]), value, value) {
        batch.update(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          changed: changed,
          row: $0
        )
      }
    }
  }

  /// Has another thread change one of the rows whenever the commit is prepared, and waits until it has done so, or waits itself.
  private final class Overtaking: CommitParticipant {
    let engine: StorageEngine
    let others = DispatchGroup()
    private(set) var preparationCount = 0

    init(_ engine: StorageEngine) { self.engine = engine }

    func prepare(_ batch: borrowing CommitBatch) -> CommitPreparation {
      preparationCount += 1
      if preparationCount > 20 { return .ready }
      let value = Int64(preparationCount)
      let flag = Flag()
      DispatchQueue(label: "overtaking").async(group: others) { [engine] in
        var batch = engine.makeBatch()
        `A commit that others overtake`.update(1, of: 3...3, to: value, in: &batch)
        do { _ = try engine.commit(&batch) } catch { Issue.record(error) }
        flag.isSet.store(true, ordering: .releasing)
      }
      while !flag.isSet.load(ordering: .acquiring), engine.givingWayCount == 0 { sched_yield() }
      return .ready
    }

    func take(_ sequence: CommitSequence) -> Bool { true }

    private final class Flag: Sendable {
      let isSet = Atomic<Bool>(false)
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `goes first after a few attempts, and keeps what the others have changed`() throws {
    let overtaking = Overtaking(engine)
    var batch = engine.makeBatch()
    Self.update(0, of: 1...10, to: 7, in: &batch)
    #expect(try engine.commit(&batch, with: overtaking) != nil)
    #expect(overtaking.preparationCount == CommitPrecedence.attemptLimit)
    overtaking.others.wait()
    #expect(engine.givingWayCount == 0)
    let layout = RowLayout([.integer, .integer])
    var values: [[Int64]] = []
    try engine.makeReadView().scan(1) { _, _, row in
      values.append([layout.integer(0, in: row), layout.integer(1, in: row)])
      return .proceed
    }
    #expect(values == (1...10).map { [7, $0 == 3 ? 3 : 0] })
  }

  @Test func `waits for nobody on the thread that has precedence`() throws {
    engine.takePrecedence()
    engine.takePrecedence()
    engine.giveWay()
    engine.endPrecedence()
    var batch = engine.makeBatch()
    Self.update(0, of: 1...1, to: 1, in: &batch)
    _ = try engine.commit(&batch)
    engine.endPrecedence()
    engine.giveWay()
    #expect(engine.givingWayCount == 0)
  }
}
