import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A pack` {
  private let everything = LayoutDefinition(ColumnType.allCases)

  /// Every row of the pack, by every access path.
  private func check(_ pack: TestPack, _ rows: [TestRow]) throws {
    for reads in [EngineOptions.ReadMethod.mapped, .copied] {
      let reader = try pack.open(reads)
      let found = try reader.rows()
      #expect(Set(found) == Set(rows))
      #expect(found.count == rows.count)
      #expect(try reader.verify() == rows.count)
      #expect(reader.summary.rowCount == rows.count)
    }
    // Cut out of its block a row has the bytes that it has among the others.
    let (cutting, measuring, copying) = (try pack.open(), try pack.open(), try pack.open(.copied))
    try cutting.forEachAddress { reference, address in
      let (cut, index) = try cutting.row(at: address)
      let whole = try cutting.rows(at: address)
      #expect(cut !== whole && index == 0 && cut.count == 1)
      #expect(cut.reference(0) == reference && cut.layout == whole.layout)
      let isEqual = cut.row(0).isEqual(to: whole.row(address.row))
      #expect(isEqual, "\(reference)")
      let outline = RowOutline(
        reference: reference,
        layout: whole.layout,
        byteCount: whole.row(address.row).byteCount
      )
      #expect(try measuring.outline(at: address) == outline)
      #expect(try copying.outline(at: address) == outline)
    }
    let cached = try pack.open(cache: BlockCache(byteLimit: 1 << 20))
    for row in rows + rows { #expect(try cached.row(row.reference) == row) }
  }

  @Test func `without rows is a pack`() throws {
    let pack = try TestPack([], [everything])
    try check(pack, [])
    #expect(try pack.open().row(RowReference(table: 1, key: 1)) == nil)
  }

  @Test(arguments: ColumnType.allCases)
  func `keeps nulls, and rows of nothing else`(type: ColumnType) throws {
    let layout = LayoutDefinition([type, .integer])
    let rows = (1...20).map { key in
      makeRow(layout, key: UInt64(key)) { if key % 3 == 0 { $0.set(1, integer: Int64(key)) } }
    }
    try check(try TestPack(rows, [layout]), rows)
  }

  @Test func `keeps rows without columns`() throws {
    let layout = LayoutDefinition([])
    let rows = [1, 2, 3, 1 << 40].map { makeRow(layout, key: $0) { _ in } }
    try check(try TestPack(rows, [layout]), rows)
  }

  @Test(
    arguments: [
      [.min, .max], [0, 0, 0], [.max, .min, .max, .min], [-1, 1], [.min, .min + 1],
    ] as [[Int64]]
  )
  func `keeps integers at the ends of their range`(values: [Int64]) throws {
    let layout = LayoutDefinition([.integer])
    let rows = values.enumerated().map { index, value in
      makeRow(layout, key: UInt64(index + 1)) { $0.set(0, integer: value) }
    }
    try check(try TestPack(rows, [layout]), rows)
  }

  @Test(
    arguments: [
      [0, -0.0], [.nan, .signalingNaN, .infinity, -.infinity], [1.5, 2.25, -3.125],
      [0.1, 0.2, 0.3], [9_007_199_254_740_991, -9_007_199_254_740_991], [9_007_199_254_740_992],
      [.leastNonzeroMagnitude, .greatestFiniteMagnitude], [1e300, 1], [60, 120, 1e6],
      [12.34, 99.99, 0.01, 1234.567],
    ] as [[Double]]
  )
  func `keeps doubles bit by bit`(values: [Double]) throws {
    let layout = LayoutDefinition([.double, .date])
    let rows = values.enumerated().map { index, value in
      makeRow(layout, key: UInt64(index + 1)) {
        $0.set(0, double: value)
        $0.set(1, double: value)
      }
    }
    try check(try TestPack(rows, [layout]), rows)
  }

  @Test(
    arguments: [
      [1], [RowReference.maximumKey], [1, RowReference.maximumKey], Array(1...300),
      [5, 6, 8, 9, 1 << 47],
    ] as [[UInt64]]
  )
  func `finds rows by their keys, with gaps and without`(keys: [UInt64]) throws {
    let layout = LayoutDefinition([.integer])
    let rows = keys.map { key in makeRow(layout, key: key) { $0.set(0, integer: Int64(key)) } }
    var options = PackOptions()
    options.blockRowCount = 7
    let pack = try TestPack(rows, [layout], options: options)
    try check(pack, rows)
    let reader = try pack.open()
    let present = Set(keys)
    for key in Set(keys.flatMap { [$0 - 1, min($0 + 1, RowReference.maximumKey)] }) {
      #expect(try reader.contains(key) == present.contains(key), "key \(key)")
    }
    #expect(try reader.row(RowReference(table: 2, key: keys[0])) == nil)
  }

  @Test(arguments: [65_535, 65_536, 200_000])
  func `keeps a text that is longer than a block`(length: Int) throws {
    let layout = LayoutDefinition([.text, .integer, .bytes])
    var random = SeededGenerator(seed: UInt64(length))
    let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let rows = (1...5).map { key in
      makeRow(layout, key: UInt64(key)) {
        $0.append(0, text: key == 3 ? String(repeating: "long ", count: length / 5) : "short")
        $0.set(1, integer: Int64(key))
        $0.append(2, bytes: (key == 4 ? noise : []).span.bytes)
      }
    }
    try check(try TestPack(rows, [layout]), rows)
  }

  @Test func `keeps rows of several tables and layouts`() throws {
    let old = LayoutDefinition([.integer, .text], number: 1)
    let new = LayoutDefinition([.text, .integer, .bool], number: 2, columns: [2, 1, 3])
    let rows = (1...2 as ClosedRange<UInt16>).flatMap { table in
      (1...200 as ClosedRange<UInt64>).map { key in
        key % 3 == 0
          ? makeRow(new, key: key, table: table) {
            $0.append(0, text: "text \(key % 10)")
            $0.set(1, integer: Int64(key))
            $0.set(2, bool: key % 2 == 0)
          }
          : makeRow(old, key: key, table: table) {
            $0.set(0, integer: -Int64(key))
            $0.append(1, text: "old \(key)")
          }
      }
    }
    var options = PackOptions()
    options.blockByteCount = 300
    try check(try TestPack(rows, [old, new], options: options), rows)
  }

  @Test func `says what it was told of its tables and commits`() throws {
    let pack = try TestPack([], []) { writer in
      writer.setSequences(first: CommitSequence(3), last: CommitSequence(99))
      writer.setTable(4, nextKey: 100, deletedKeys: [1..<2, 5..<9, 50..<100])
    }
    let reader = try pack.open()
    #expect(reader.sequences.first == CommitSequence(3))
    #expect(reader.sequences.last == CommitSequence(99))
    #expect(
      reader.footer.tables == [
        PackTable(table: 4, nextKey: 100, deletedKeys: [1..<2, 5..<9, 50..<100])
      ]
    )
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `gives back random rows, however it is cut into blocks`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let types = (0..<Int.random(in: 0...12, using: &random)).map { _ in
      ColumnType.allCases.randomElement(using: &random) ?? .integer
    }
    let layout = LayoutDefinition(types)
    var rows: [TestRow] = []
    var key: UInt64 = 0
    for _ in 0..<Int.random(in: 1...300, using: &random) {
      key += random.oneIn(4) ? UInt64.random(in: 1...1000, using: &random) : 1
      rows.append(makeRow(layout, key: key) { fill(&$0, types, &random) })
    }
    var options = PackOptions()
    options.blockByteCount = Int.random(in: 64...40_000, using: &random)
    options.blockRowCount = Int.random(in: 1...300, using: &random)
    try check(try TestPack(rows, [layout], options: options), rows)
  }

  private func fill(
    _ writer: inout RowWriter,
    _ types: [ColumnType],
    _ random: inout SeededGenerator
  ) {
    for (column, type) in types.enumerated() where !random.oneIn(6) {
      let bits = random.next() >> UInt64.random(in: 0...63, using: &random)
      switch type {
      case .integer: writer.set(column, integer: Int64(bitPattern: bits))
      case .double: writer.set(column, double: Double(bitPattern: random.next()))
      case .date: writer.set(column, double: Double(bits >> 12) * 60)
      case .bool: writer.set(column, bool: bits & 1 == 1)
      case .uuid: writer.set(column, uuid: (bits, random.next()))
      case .reference:
        writer.set(column, reference: RowReference(table: 3, key: bits & RowReference.maximumKey))
      case .references:
        writer.append(
          column,
          references: (0..<(bits % 20)).map { RowReference(table: 2, key: $0 + 1) }
        )
      case .text: writer.append(column, text: "word \(bits % 50)")
      case .bytes, .structured, .blob:
        let bytes = (0..<(bits % 400)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        writer.append(column, bytes: bytes.span.bytes)
      }
    }
  }
}

extension PackReader {
  fileprivate func contains(_ key: UInt64) throws -> Bool {
    try address(of: RowReference(table: 1, key: key)) != nil
  }
}
