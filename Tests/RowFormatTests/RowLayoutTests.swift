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

  @Test(arguments: [0, 1, 2, 30, 9_000])
  func `takes over a list without some of its references and with others behind`(count: Int) {
    let layout = RowLayout([.text, .references, .integer])
    var generator = SeededGenerator(seed: UInt64(count))
    let list = (0..<count).map { RowReference(table: 2, key: UInt64($0 * 7 + 1)) }
    let row = encode([.text("a"), .references(list), .integer(5)], layout)
    for goneCount in [0, 1, 2, count / 2, count] where goneCount <= count {
      let gone = Array(list.shuffled(using: &generator).prefix(goneCount))
      let strangers = (1...2).map { RowReference(table: 9, key: UInt64($0)) }
      let new = [RowReference(table: 2, key: 1_000_000), RowReference(table: 2, key: 3)]
      var writer = RowWriter(capacity: 16)
      writer.begin(layout)
      let found = row.withUnsafeBytes { bytes in
        let offsets = layout.offsets(of: gone + strangers, inList: 1, of: bytes.bytes)
        writer.append(0, text: "b")
        writer.append(
          1,
          referencesOf: bytes.bytes,
          layout: layout,
          withoutThoseAt: offsets,
          followedBy: new
        )
        return offsets.map { layout.reference(at: $0, in: bytes.bytes) }
      }
      let names = Set(gone)
      #expect(found == list.filter(names.contains))
      let corrected = writer.finish()
      let result = writer.bytes.extracting(corrected)
      let isValid = layout.isValid(result)
      let references = layout.references(1, in: result)
      let (text, isNull) = (layout.text(0, in: result), layout.isNull(2, in: result))
      #expect(isValid && isNull && text == "b")
      #expect(references == list.filter { !names.contains($0) } + new)
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
