import RowFormat
import Testing

@Suite struct `A row` {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `reads back every value that was written`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let cells = everyType.types.map { Cell.random($0, using: &generator) }
    let row = encode(cells, everyType)
    #expect(decode(row, everyType) == cells, "seed \(seed)")
    #expect(row.withUnsafeBytes { everyType.isValid($0.bytes) })
  }

  @Test func `without values is all null`() {
    let row = encode(everyType.types.map { _ in .null }, everyType)
    #expect(decode(row, everyType).allSatisfy { $0 == .null })
  }

  @Test(arguments: [0, 1, 7, 8, 9, 63, 64, 65, 130])
  func `may have any number of columns`(count: Int) {
    let layout = RowLayout((0..<count).map { $0 % 2 == 0 ? .integer : .text })
    let cells: [Cell] = (0..<count).map { $0 % 2 == 0 ? .integer(Int64($0)) : .text("\($0)") }
    #expect(decode(encode(cells, layout), layout) == cells)
  }

  @Test(arguments: [65_534, 65_535, 65_536, 200_000])
  func `may hold more text than sixteen bits can count`(length: Int) {
    let layout = RowLayout([.text, .integer, .text, .text])
    let long = String(repeating: "x", count: length)
    for place in [0, 2, 3] {
      var cells: [Cell] = [.text("a"), .integer(5), .text("b"), .text("c")]
      cells[place] = .text(long)
      let row = encode(cells, layout)
      #expect(decode(row, layout) == cells)
      #expect(row.withUnsafeBytes { layout.isValid($0.bytes) })
    }
  }

  @Test func `that is cut anywhere is not valid`() {
    var generator = SeededGenerator(seed: 7)
    let cells = everyType.types.map { Cell.random($0, using: &generator) }
    let row = encode(cells, everyType)
    for length in 0..<row.count {
      let cut = Array(row[..<length])
      #expect(!cut.withUnsafeBytes { everyType.isValid($0.bytes) }, "cut to \(length)")
    }
  }

  @Test func `with any byte changed is refused or can be read without harm`() {
    var generator = SeededGenerator(seed: 11)
    let cells = everyType.types.map { Cell.random($0, using: &generator) }
    let row = encode(cells, everyType)
    var refused = 0
    for index in row.indices {
      for bit in 0..<8 {
        var damaged = row
        damaged[index] ^= 1 << UInt8(bit)
        guard damaged.withUnsafeBytes({ everyType.isValid($0.bytes) }) else {
          refused += 1
          continue
        }
        #expect(decode(damaged, everyType).count == everyType.count)
      }
    }
    #expect(refused > 0)
  }

  @Test(
    arguments: [
      [], [0], Array("a".utf8), Array("fifteen letters".utf8), Array("sixteen letters!".utf8),
      Array("\u{E4}\u{1F600}\u{65E5}\u{672C}".utf8), Array(repeating: 0xFF, count: 40),
      [0x61, 0xC3], [0xC3, 0x28, 0x61], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98],
      Array("cut \u{65E5}".utf8.dropLast()),
    ] as [[UInt8]]
  )
  func `gives any bytes of a text as a text, repaired where they are none`(bytes: [UInt8]) {
    // The same columns, so that what is no text gets into a row.
    let written = RowLayout([.text, .bytes, .text])
    let read = RowLayout([.text, .text, .text])
    for neighbour in ["", "before"] {
      let row = encode([.text(neighbour), .bytes(bytes), .text("after")], written)
      let expected = String(decoding: bytes, as: UTF8.self)
      #expect(decode(row, read) == [.text(neighbour), .text(expected), .text("after")])
    }
  }
}

@Suite struct `A reference` {
  @Test func `keeps table and key apart`() {
    let reference = RowReference(table: 32_767, key: RowReference.maximumKey)
    #expect(reference.table == 32_767)
    #expect(reference.key == RowReference.maximumKey)
    #expect(!reference.isProvisional)
    #expect(RowReference(table: 0x8000, key: 1).isProvisional)
  }
}

@Suite struct `A set of columns` {
  @Test func `counts every column from the 64th on as one`() {
    var set = ColumnSet()
    set.insert(70)
    #expect(set.contains(63))
    #expect(set.contains(200))
    #expect(!set.contains(62))
    set.remove(100)
    #expect(set.isEmpty)
  }
}
