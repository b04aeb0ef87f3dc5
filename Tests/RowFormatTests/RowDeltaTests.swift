import RowFormat
import Testing

/// The delta between two rows, with or without the older one at hand.
func delta(
  from old: [UInt8],
  to new: [UInt8],
  changed: ColumnSet,
  _ layout: RowLayout,
  seesOld: Bool
) -> [UInt8] {
  var buffer = ByteBuffer()
  old.withUnsafeBytes { old in
    new.withUnsafeBytes { new in
      if seesOld {
        RowDelta.encode(
          changed: changed,
          row: new.bytes,
          previous: old.bytes,
          layout: layout,
          into: &buffer
        )
      } else {
        RowDelta.encode(
          changed: changed,
          row: new.bytes,
          previous: nil,
          layout: layout,
          into: &buffer
        )
      }
    }
  }
  return buffer.bytes.withUnsafeBytes { Array($0) }
}

/// Applies a delta; `nil` if it is malformed.
func apply(_ delta: [UInt8], to row: [UInt8], _ layout: RowLayout) -> [UInt8]? {
  var writer = RowWriter()
  return delta.withUnsafeBytes { delta in
    row.withUnsafeBytes { row in
      let range = RowDelta.apply(delta.bytes, to: row.bytes, layout: layout, into: &writer)
      return range.map { range in
        writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
      }
    }
  }
}

@Suite struct `A delta` {
  @Test func `tells the reference it gives a column, at any position of the column`() {
    let layout = RowLayout([.text, .reference, .integer, .references, .reference])
    let target = RowReference(table: 3, key: 77)
    var writer = RowWriter()
    writer.begin(layout)
    writer.append(0, text: "before it")
    writer.append(3, references: [RowReference(table: 1, key: 1)])
    writer.set(4, reference: target)
    let row = writer.finish()
    let bytes = writer.bytes.extracting(row).withUnsafeBytes { Array($0) }
    let changed = delta(from: bytes, to: bytes, changed: .all, layout, seesOld: false)
    changed.withUnsafeBytes { bytes in
      #expect(RowDelta.reference(4, in: bytes.bytes, layout: layout) == target)
      #expect(RowDelta.reference(1, in: bytes.bytes, layout: layout) == nil)
      #expect(RowDelta.reference(2, in: bytes.bytes, layout: layout) == nil)
      #expect(RowDelta.reference(4, in: bytes.bytes.extracting(0..<4), layout: layout) == nil)
    }
    var others = ColumnSet()
    others.insert(0)
    let without = delta(from: bytes, to: bytes, changed: others, layout, seesOld: false)
    without.withUnsafeBytes { bytes in
      #expect(RowDelta.reference(4, in: bytes.bytes, layout: layout) == nil)
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `turns the old row into the new one`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var cells = everyType.types.map { Cell.random($0, using: &generator) }
    let old = encode(cells, everyType)
    var changed = ColumnSet()
    for column in cells.indices where Bool.random(using: &generator) {
      cells[column] = .random(everyType.types[column], using: &generator)
      changed.insert(column)
    }
    let new = encode(cells, everyType)
    for seesOld in [false, true] {
      let bytes = delta(from: old, to: new, changed: changed, everyType, seesOld: seesOld)
      #expect(apply(bytes, to: old, everyType) == new, "seed \(seed)")
    }
  }

  /// The row that a delta makes where it is; `nil` if the delta is refused.
  private func patch(_ delta: [UInt8], _ row: [UInt8], _ layout: RowLayout) -> [UInt8]?? {
    var writer = RowWriter()
    row.withUnsafeBytes { _ = writer.append(row: $0.bytes) }
    let isPatched = delta.withUnsafeBytes {
      RowDelta.patch($0.bytes, layout: layout, in: &writer)
    }
    guard let isPatched else { return .none }
    return .some(isPatched ? writer.bytes.withUnsafeBytes { Array($0) } : nil)
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `of columns of fixed width changes a row where it is`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var cells = everyType.types.map { Cell.random($0, using: &generator) }
    let old = encode(cells, everyType)
    var changed = ColumnSet()
    let allowsVariable = seed % 3 == 0
    for column in cells.indices where Bool.random(using: &generator) {
      if everyType.types[column].isVariable && !allowsVariable { continue }
      cells[column] = .random(everyType.types[column], using: &generator)
      changed.insert(column)
    }
    let new = encode(cells, everyType)
    let bytes = delta(from: old, to: new, changed: changed, everyType, seesOld: false)
    let isFixed = cells.indices.allSatisfy {
      !changed.contains($0) || !everyType.types[$0].isVariable
    }
    #expect(patch(bytes, old, everyType) == (isFixed ? .some(new) : .none), "seed \(seed)")
    for index in bytes.indices where isFixed {
      let cut = Array(bytes[..<index])
      #expect(patch(cut, old, everyType) == .some(nil), "seed \(seed), cut at \(index)")
      var damaged = bytes
      damaged[index] ^= UInt8.random(in: 1...255, using: &generator)
      guard let patched = patch(damaged, old, everyType) else { continue }
      #expect(patched == apply(damaged, to: old, everyType), "seed \(seed), byte \(index)")
    }
  }

  @Test func `says which columns it changes`() {
    let old = encode([.integer(1), .text("a"), .text("b")], RowLayout([.integer, .text, .text]))
    let layout = RowLayout([.integer, .text, .text])
    var changed = ColumnSet()
    changed.insert(2)
    let bytes = delta(from: old, to: old, changed: changed, layout, seesOld: false)
    #expect(
      bytes.withUnsafeBytes { RowDelta.changedColumns(of: $0.bytes, layout: layout) } == changed
    )
  }

  @Test(arguments: [10, 1000, 100_000])
  func `of a list that grew by one element holds one element`(count: Int) {
    let layout = RowLayout([.references])
    let list = (1...count).map { RowReference(table: 1, key: UInt64($0)) }
    let old = encode([.references(list)], layout)
    let new = encode([.references(list + [RowReference(table: 1, key: 7_000_000)])], layout)
    let bytes = delta(from: old, to: new, changed: .all, layout, seesOld: true)
    #expect(bytes.count < 20)
    #expect(apply(bytes, to: old, layout) == new)
  }

  @Test func `with any byte changed, or cut anywhere, is refused or gives a valid row`() {
    var generator = SeededGenerator(seed: 3)
    let layout = RowLayout([.integer, .text, .references, .bool])
    let list = (1...50).map { RowReference(table: 1, key: $0) }
    let old = encode([.integer(1), .text("before"), .references(list), .bool(true)], layout)
    let new = encode(
      [.integer(2), .text("after"), .references(Array(list[..<20] + list[30...])), .null],
      layout
    )
    let bytes = delta(from: old, to: new, changed: .all, layout, seesOld: true)
    var refused = 0
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= UInt8.random(in: 1...255, using: &generator)
      for candidate in [damaged, Array(bytes[..<index])] {
        if let row = apply(candidate, to: old, layout) {
          #expect(row.withUnsafeBytes { layout.isValid($0.bytes) })
        } else {
          refused += 1
        }
      }
    }
    #expect(refused > bytes.count / 2)
  }
}

@Suite struct `A varint` {
  @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, UInt64.max - 1, .max])
  func `a varint reads back as it was written`(value: UInt64) {
    var buffer = ByteBuffer()
    buffer.appendVarint(value)
    var cursor = ByteCursor(0..<buffer.count)
    #expect(cursor.varint(in: buffer.bytes) == value)
    #expect(cursor.remaining == 0)
  }

  @Test func `that does not end within 64 bits is refused`() {
    var buffer = ByteBuffer()
    for _ in 0..<11 { buffer.append(0xFF as UInt8) }
    var cursor = ByteCursor(0..<buffer.count)
    #expect(cursor.varint(in: buffer.bytes) == nil)
  }
}
