import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

// Updates that name some columns, and bring along a row whose others may be out of date.

@Suite struct `An update of some columns` {
  private let engine: StorageEngine
  private let layout = RowLayout([.integer, .integer, .integer, .text])
  private let reference = RowReference(table: 1, key: 1)

  init() throws {
    var options = EngineOptions()
    options.durability = .memory
    options.background = .caller
    engine = try StorageEngine.open(at: "store", options: options, fileSystem: InMemoryFileSystem())
    let columns = layout.types.enumerated().map { number, type in
      CatalogueChange.addColumn(table: 1, name: "c\(number)", type: type, isNullable: false)
    }
    try engine.apply(
      [.addTable(name: "rows")] + columns + [.setLayout(table: 1, columns: [1, 2, 3, 4])]
    )
    var batch = engine.makeBatch()
    let key = engine.reserveKeys(1, in: 1).lowerBound
    #expect(key == reference.key)
    row([0, 0, 0]).withUnsafeBytes {
      batch.insert(reference, layout: LayoutNumber(1), row: $0.bytes)
    }
    _ = try engine.commit(&batch)
  }

  private func row(_ numbers: [Int64]) -> [UInt8] {
    var writer = RowWriter()
    writer.begin(layout)
    for (column, number) in numbers.enumerated() { writer.set(column, integer: number) }
    writer.append(3, text: "a text that makes the row worth a chain of deltas")
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  private func add(_ numbers: [Int64], changed: [Int], to batch: inout CommitBatch) {
    var columns = ColumnSet()
    for column in changed { columns.insert(column) }
    row(numbers).withUnsafeBytes {
      batch.update(reference, layout: LayoutNumber(1), changed: columns, row: $0.bytes)
    }
  }

  private func update(_ numbers: [Int64], changed: [Int]) throws {
    var batch = engine.makeBatch()
    add(numbers, changed: changed, to: &batch)
    _ = try engine.commit(&batch)
  }

  private func numbers() throws -> [Int64]? {
    try engine.withRow(reference) { row, _ in (0..<3).map { layout.integer($0, in: row) } }
  }

  /// After so many changes of the first column the next is a delta, or the end of the chain; of three columns
  /// of four changed a delta does not pay.
  @Test(arguments: 0...18, [[1], [1, 2, 3]])
  func `keeps what others changed in the rest of the row`(before: Int, changed: [Int]) throws {
    for value in 0..<before { try update([Int64(value) + 1, 0, 0], changed: [0]) }
    try update([0, 5, 6], changed: changed)
    #expect(try numbers() == [Int64(before), 5, changed.count > 1 ? 6 : 0])
  }

  @Test(arguments: 0...18, [[1], [1, 2, 3]])
  func `keeps what others changed while it was on its way`(before: Int, changed: [Int]) throws {
    for _ in 0..<before { try update([0, 0, 0], changed: [0]) }
    var batch = engine.makeBatch()
    add([0, 5, 6], changed: changed, to: &batch)
    try update([9, 0, 0], changed: [0])
    _ = try engine.commit(&batch)
    #expect(try numbers() == [9, 5, changed.count > 1 ? 6 : 0])
  }

  @Test func `is refused as an insert of a row that another batch has inserted meanwhile`() throws {
    let key = engine.reserveKeys(1, in: 1).lowerBound
    let new = RowReference(table: 1, key: key)
    func insert(_ numbers: [Int64], into batch: inout CommitBatch) {
      row(numbers).withUnsafeBytes {
        batch.insert(new, layout: LayoutNumber(1), row: $0.bytes)
      }
    }
    var second = engine.makeBatch()
    insert([2, 2, 2], into: &second)
    var first = engine.makeBatch()
    insert([1, 1, 1], into: &first)
    _ = try engine.commit(&first)
    #expect(throws: StorageError.rowExists(new)) { try engine.commit(&second) }
    let stored = try engine.withRow(new) { row, _ in layout.integer(0, in: row) }
    #expect(stored == 1)
    #expect(engine.rowCount(of: 1) == 2)
  }
}
