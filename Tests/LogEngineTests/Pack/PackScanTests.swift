import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A scan of columns` {
  private let layout = LayoutDefinition([.integer, .double, .bool, .text, .date, .text])

  private struct Values {
    var key: UInt64
    var integer: Int64?
    var double: Double?
    var bool: Bool?
    var place: String?
    var date: Double
    var name: String
  }

  private func makeValues(_ seed: UInt64, _ count: Int) -> [Values] {
    var random = SeededGenerator(seed: seed)
    let numbers: [Double] = [-1, 0, 0.5, .nan, .infinity, 3, 1e9]
    return (0..<count).map { index in
      Values(
        key: UInt64(index * 2 + 1),
        integer: random.oneIn(7) ? nil : Int64.random(in: -5...5, using: &random),
        double: random.oneIn(7) ? nil : numbers.randomElement(using: &random),
        bool: random.oneIn(7) ? nil : random.oneIn(2),
        place: random.oneIn(7) ? nil : "place \(Int.random(in: 0..<20, using: &random))",
        date: Double(index) * 3600,
        name: "name \(random.next())" + String(repeating: ".", count: 300)
      )
    }
  }

  private func makePack(_ values: [Values], rowsPerBlock: Int = 100) throws -> TestPack {
    var options = PackOptions()
    options.blockRowCount = rowsPerBlock
    options.blockByteCount = 1 << 20
    let rows = values.map { value in
      makeRow(layout, key: value.key) { writer in
        if let integer = value.integer { writer.set(0, integer: integer) }
        if let double = value.double { writer.set(1, double: double) }
        if let bool = value.bool { writer.set(2, bool: bool) }
        if let place = value.place { writer.append(3, text: place) }
        writer.set(4, double: value.date)
        writer.append(5, text: value.name)
      }
    }
    return try TestPack(rows, [layout], options: options)
  }

  @Test(arguments: [
    (first: Int64(-2), distance: UInt64(3)), (0, 0), (.max, 1), (3, .max), (4, .max - 5), (.min, 9),
  ])
  func `takes runs of integers that go on beyond the greatest with the least`(
    first: Int64,
    distance: UInt64
  ) throws {
    let values = makeValues(11, 1000)
    let reader = try makePack(values).open()
    let found = try keys(reader, [1]) { block, rows in
      try block.column(0).keep(integersFrom: first, distance: distance, in: &rows)
    }
    let expected = values.filter { value in
      value.integer.map { UInt64(bitPattern: $0 &- first) <= distance } ?? false
    }
    #expect(found == expected.map(\.key))
    let few = try keys(reader, [1]) { block, rows in
      try block.column(0).keep(integersWhere: { $0 == 2 || $0 == -4 }, in: &rows)
    }
    #expect(few == values.filter { $0.integer == 2 || $0.integer == -4 }.map(\.key))
  }

  @Test func `reads no block for what is not a number, if none is there`() throws {
    var values = makeValues(12, 300)
    for index in values.indices { values[index].double = index == 150 ? .nan : 1 }
    let reader = try makePack(values).open()
    let found = try keys(reader, [2], where: [.notANumber(column: 2)]) { _, _ in }
    #expect(found == values[100..<200].map(\.key))
  }

  /// The keys of the rows that pass a filter.
  private func keys(
    _ reader: PackReader,
    _ columns: [UInt16],
    where conditions: [ZoneCondition] = [],
    _ filter: (inout PackBlock, inout RowSelection) throws -> Void
  ) throws -> [UInt64] {
    var keys: [UInt64] = []
    var selection = RowSelection()
    try reader.scanColumns(1, columns, where: conditions) { block in
      selection.selectAll(block.rowCount)
      try filter(&block, &selection)
      try selection.forEach { keys.append(try block.key(of: $0)) }
      return .proceed
    }
    return keys
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `keeps exactly the rows that pass`(seed: UInt64) throws {
    let values = makeValues(seed, 777)
    let reader = try makePack(values, rowsPerBlock: Int(seed) * 37 + 1).open()
    func expect(
      _ found: [UInt64],
      _ isWanted: (Values) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) {
      #expect(found == values.filter(isWanted).map(\.key), sourceLocation: location)
    }
    expect(try keys(reader, []) { _, _ in }) { _ in true }
    expect(try keys(reader, [1]) { try $0.column(0).keep(integers: -2...3, in: &$1) }) {
      $0.integer.map { -2...3 ~= $0 } ?? false
    }
    expect(try keys(reader, [2]) { try $0.column(0).keep(doubles: 0...3, in: &$1) }) {
      $0.double.map { 0...3 ~= $0 } ?? false
    }
    expect(try keys(reader, [3]) { try $0.column(0).keep(bools: false, in: &$1) }) {
      $0.bool == false
    }
    var isPlace = ValueTest.isEqual(to: Array("place 7".utf8))
    expect(try keys(reader, [4]) { try $0.column(0).keep(where: &isPlace, in: &$1) }) {
      $0.place == "place 7"
    }
    var isShort = ValueTest { $0.byteCount == 7 }
    expect(try keys(reader, [4]) { try $0.column(0).keep(where: &isShort, in: &$1) }) {
      $0.place?.utf8.count == 7
    }
    var isLong = ValueTest { $0.byteCount > 324 }
    expect(try keys(reader, [6]) { try $0.column(0).keep(where: &isLong, in: &$1) }) {
      $0.name.utf8.count > 324
    }
    expect(try keys(reader, [1]) { try $0.column(0).keepNulls(in: &$1) }) { $0.integer == nil }
    expect(try keys(reader, [4]) { try $0.column(0).keepValues(in: &$1) }) { $0.place != nil }
    expect(
      try keys(reader, [1, 4]) { block, selection in
        try block.column(0).keep(integers: 0...5, in: &selection)
        var other = selection
        try block.column(1).keep(where: &isPlace, in: &selection)
        try block.column(1).keepNulls(in: &other)
        selection.formUnion(other)
        selection.invert()
      }
    ) { !(($0.integer ?? -1) >= 0 && ($0.place == nil || $0.place == "place 7")) }
  }

  @Test func `leaves out blocks whose bounds rule them out, and no others`() throws {
    let values = makeValues(3, 1000)
    let reader = try makePack(values).open()
    let dates = (values[420].date)...(values[610].date)
    var visited = 0
    let found = try keys(reader, [5], where: [.double(column: 5, dates)]) { block, selection in
      visited += 1
      try block.column(0).keep(doubles: dates, in: &selection)
    }
    #expect(found == values[420...610].map(\.key))
    #expect(visited == 3)
    for conditions in [
      [ZoneCondition.integer(column: 1, 6...100)], [.integer(column: 1, -100 ... -6)],
      [.bytes(column: 4, from: Array("q".utf8), through: nil)],
      [.bytes(column: 4, from: [], through: Array("p".utf8))], [.notNull(column: 99)],
      [.integer(column: 99, 0...0)], [.null(column: 5)],
      [.orNull(.double(column: 5, -2 ... -1))],
    ] {
      #expect(try keys(reader, [], where: conditions) { _, _ in }.isEmpty, "\(conditions)")
    }
    for conditions in [
      [ZoneCondition.integer(column: 1, 5...5)], [.null(column: 1)], [.null(column: 99)],
      [.orNull(.integer(column: 1, 6...100))], [.orNull(.integer(column: 99, 0...0))],
      [.bytes(column: 4, from: Array("place 7".utf8), through: Array("place 7".utf8))],
      [.notNull(column: 4)], [.double(column: 2, 1e9...1e10)],
    ] {
      #expect(try keys(reader, [], where: conditions) { _, _ in }.count == 1000, "\(conditions)")
    }
  }

  @Test func `stays in a range of keys, give or take a block`() throws {
    let reader = try makePack(makeValues(4, 500)).open()
    var first: [UInt64] = []
    try reader.scanColumns(1, [], in: 301..<500) { block in
      first.append(try block.key(of: 0))
      return .proceed
    }
    #expect(first == [201, 401])
    try reader.scanColumns(2, []) { _ in
      Issue.record("a table that is not there has no blocks")
      return .stop
    }
  }

  @Test func `offers nulls for a column that rows of an older layout lack`() throws {
    let old = LayoutDefinition([.integer], number: 1, columns: [1])
    let new = LayoutDefinition([.text, .integer], number: 2, columns: [2, 1])
    let rows =
      (1...10 as ClosedRange<UInt64>).map { key in
        makeRow(old, key: key) { $0.set(0, integer: Int64(key)) }
      }
      + (11...20 as ClosedRange<UInt64>).map { key in
        makeRow(new, key: key) {
          $0.append(0, text: "new")
          $0.set(1, integer: Int64(key))
        }
      }
    let reader = try TestPack(rows, [old, new]).open()
    #expect(try keys(reader, [2]) { try $0.column(0).keepNulls(in: &$1) } == Array(1...10))
    #expect(
      try keys(reader, [1, 2]) { try $0.column(0).keep(integers: 8...12, in: &$1) } == Array(8...12)
    )
  }

  @Test func `leaves a vector alone that the caller keeps`() throws {
    let values = makeValues(5, 300)
    let reader = try makePack(values).open()
    var kept: [ColumnVector] = []
    try reader.scanColumns(1, [5]) { block in
      kept.append(try block.column(0))
      return .proceed
    }
    let dates = kept.flatMap { vector in (0..<vector.count).map { vector.doubles[$0] } }
    #expect(dates == values.map(\.date))
  }
}

@Suite struct `The block cache` {
  private let layout = LayoutDefinition([.integer, .text])

  private func makePack(_ count: Int) throws -> (pack: TestPack, rows: [TestRow]) {
    let rows = (1...UInt64(count)).map { key in
      makeRow(layout, key: key) {
        $0.set(0, integer: Int64(key))
        $0.append(1, text: String(repeating: "row \(key) ", count: 20))
      }
    }
    var options = PackOptions()
    options.blockRowCount = 10
    return (try TestPack(rows, [layout], options: options), rows)
  }

  @Test func `keeps to its budget, and drops what was not read again`() throws {
    let (pack, rows) = try makePack(1000)
    let cache = BlockCache(byteLimit: 20_000)
    let reader = try pack.open(cache: cache)
    for row in rows {
      #expect(try reader.row(row.reference) == row)
      // The first block is read all the time, and stays.
      #expect(try reader.row(rows[0].reference) == rows[0])
      #expect(cache.byteCount <= cache.byteLimit)
    }
    #expect(cache.byteCount > 0)
    #expect(cache.evictionCount > 50)
    #expect(reader.slots[0].contents.withLock { $0.rows != nil })
  }

  @Test func `is empty when the packs are closed`() throws {
    let (pack, rows) = try makePack(200)
    let cache = BlockCache(byteLimit: 1 << 20)
    do {
      let reader = try pack.open(cache: cache)
      for row in rows { _ = try reader.row(row.reference) }
      #expect(cache.byteCount > 0)
    }
    #expect(cache.byteCount == 0)
  }

  @Test func `serves many readers at once`() async throws {
    let (pack, rows) = try makePack(400)
    let cache = BlockCache(byteLimit: 30_000)
    let reader = try pack.open(cache: cache)
    await withTaskGroup(of: Int.self) { group in
      for seed in 0..<4 as Range<UInt64> {
        group.addTask {
          var random = SeededGenerator(seed: seed)
          var wrong = 0
          for _ in 0..<500 {
            let row = rows[Int.random(in: 0..<rows.count, using: &random)]
            if (try? reader.row(row.reference)) != row { wrong += 1 }
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong == 0) }
    }
    #expect(cache.byteCount <= cache.byteLimit)
  }
}
