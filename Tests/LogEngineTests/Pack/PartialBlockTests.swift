import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A block of which a scan reads some rows` {
  private let layout = LayoutDefinition(ColumnType.allCases)

  /// A pack of one block with every type of column, nulls, and a dictionary.
  private func makePack(hasGaps: Bool) throws -> (pack: TestPack, rows: [TestRow]) {
    let rows = (1...200 as ClosedRange<UInt64>).map { key in
      makeRow(layout, key: hasGaps ? key * 3 : key) { writer in
        if key % 7 != 0 { writer.set(0, integer: Int64(key) * 1000) }
        writer.set(1, double: key % 2 == 0 ? Double(key) : 1 / Double(key))
        if key % 4 != 0 { writer.set(2, bool: key % 3 == 0) }
        writer.set(3, double: Double(key) * 60)
        writer.set(4, uuid: (key, key &* 0x9E37_79B9_7F4A_7C15))
        writer.set(5, reference: RowReference(table: 2, key: key))
        writer.append(6, text: key % 2 == 0 ? "even" : "odd, and a little longer than that")
        if key % 5 != 0 {
          writer.append(7, bytes: [UInt8](repeating: 7, count: Int(key % 50) * 3).span.bytes)
        }
        writer.append(8, references: (0..<(key % 9)).map { RowReference(table: 3, key: $0 + 1) })
        writer.append(9, text: "structured \(key)")
        writer.append(10, text: "blob \(key)")
      }
    }
    var options = PackOptions()
    options.blockByteCount = 256 << 10
    return (try TestPack(rows, [layout], options: options), rows)
  }

  private func place(of row: Int, in pack: TestPack) -> RecordPlace {
    RecordPlace(pack: pack.id, PackAddress(block: 0, row: row))
  }

  @Test(arguments: [false, true], [(0, 200), (0, 1), (199, 1), (70, 60), (3, 190), (100, 100)])
  func `yields them byte for byte as they are among all others`(
    hasGaps: Bool,
    part: (first: Int, count: Int)
  ) throws {
    let (pack, rows) = try makePack(hasGaps: hasGaps)
    let reader = try pack.open()
    #expect(reader.footer.blocks.count == 1)
    let wanted = rows[part.first..<(part.first + part.count)]
    let keys = wanted.map(\.key)
    var cursor = PackedRowsCursor()
    for index in keys.indices {
      cursor.expect(keys.span, from: index)
      let row = part.first + index
      let found = try cursor.rows(at: place(of: row, in: pack), of: reader)
      #expect(found.reference(row) == rows[row].reference)
      #expect(found.row(row).withUnsafeBytes { Array($0) } == rows[row].bytes, "row \(row)")
      #expect(found.index(of: rows[row].key) == row)
      #expect(found.contains(part.first - 1) == false)
    }
    let last = try cursor.rows(at: place(of: part.first, in: pack), of: reader)
    #expect(last.count == part.count || part.count > 64, "no more are put together than are read")
  }

  @Test(
    arguments: [false, true],
    [
      [0], [199], [3, 4, 5], [0, 50, 51, 120, 199], [10, 20, 30, 40, 50, 60, 70, 80], [198, 199],
    ]
  )
  func `yields few of them cut out, byte for byte the same`(hasGaps: Bool, wanted: [Int]) throws {
    let (pack, rows) = try makePack(hasGaps: hasGaps)
    let other = try makePack(hasGaps: !hasGaps)
    let (reader, otherReader) = (try pack.open(), try other.pack.open())
    let keys = wanted.map { rows[$0].key }
    var cursor = PackedRowsCursor()
    var cutCount = 0
    for (index, row) in wanted.enumerated() {
      cursor.expect(keys.span, from: index)
      if let (cut, place) = try cursor.cut(place(of: row, in: pack), of: reader) {
        cutCount += 1
        #expect(cut.reference(place) == rows[row].reference)
        #expect(cut.row(place).withUnsafeBytes { Array($0) } == rows[row].bytes, "row \(row)")
      }
      // A row of another pack comes in between, now and then.
      let otherPlace = RecordPlace(
        pack: PackID(rawValue: other.pack.id.rawValue + 1),
        PackAddress(block: 0, row: row)
      )
      if index % 2 == 1,
        let found = try cursor.cut(otherPlace, of: otherReader)
      {
        let bytes = found.rows.row(found.index).withUnsafeBytes { Array($0) }
        #expect(bytes == other.rows[row].bytes, "row \(row) of the other")
      }
    }
    #expect(cutCount > 0, "the test is about rows that are cut out")
  }

  @Test(arguments: [[], [7], [1, 2, 10], Array(1...11)] as [[UInt16]])
  func `yields wanted columns of those cut out as they are, and others as null`(
    wanted: [UInt16]
  ) throws {
    let (pack, rows) = try makePack(hasGaps: false)
    let reader = try pack.open()
    for indices in [[7], [0, 50, 51, 120, 199]] {
      let keys = indices.map { rows[$0].key }
      var cursor = PackedRowsCursor(columns: wanted)
      for (index, row) in indices.enumerated() {
        cursor.expect(keys.span, from: index)
        let (cut, place) = try #require(try cursor.cut(self.place(of: row, in: pack), of: reader))
        #expect(cut.reference(place) == rows[row].reference)
        let whole = rows[row].bytes
        let expected = makeRow(layout, key: rows[row].key) { writer in
          for column in layout.columns.indices where wanted.contains(layout.columns[column]) {
            writer.copy(column, from: whole.span.bytes, column: column, layout: layout.layout)
          }
        }
        #expect(cut.row(place).withUnsafeBytes { Array($0) } == expected.bytes, "row \(row)")
      }
    }
  }

  /// An index that is damaged may say that a row is where another one is.
  @Test(arguments: [false, true])
  func `yields the row at an address, whatever key was announced`(hasGaps: Bool) throws {
    let (pack, rows) = try makePack(hasGaps: hasGaps)
    let reader = try pack.open()
    let lists: [[UInt64]] = [
      [], [0], [1], [2, 3], [100, 200], [250, 300], [.max], [5000, .max],
    ]
    for keys in lists {
      for row in [0, 1, 50, 150, 199] {
        var cursor = PackedRowsCursor()
        if !keys.isEmpty { cursor.expect(keys.span, from: 0) }
        if let (cut, index) = try cursor.cut(place(of: row, in: pack), of: reader) {
          #expect(cut.reference(index) == rows[row].reference)
        }
        let found = try cursor.rows(at: place(of: row, in: pack), of: reader)
        #expect(found.contains(row))
        #expect(found.reference(row) == rows[row].reference)
        #expect(found.row(row).withUnsafeBytes { Array($0) } == rows[row].bytes)
        #expect(found.index(of: rows[row].key) == row)
        #expect(found.index(of: 1000) == nil)
      }
    }
    #expect(throws: StorageError.self) {
      var cursor = PackedRowsCursor()
      _ = try cursor.rows(at: place(of: 200, in: pack), of: reader)
    }
  }
}
