import RowFormat

/// Random numbers that can be had again: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// The value of one column, to be written and compared.
enum Cell: Equatable {
  case null
  case integer(Int64)
  case double(Double)
  case bool(Bool)
  case uuid(UInt64, UInt64)
  case reference(RowReference)
  case text(String)
  case bytes([UInt8])
  case references([RowReference])

  static func random(_ type: ColumnType, using generator: inout SeededGenerator) -> Cell {
    if Int.random(in: 0..<5, using: &generator) == 0 { return .null }
    func bytes() -> [UInt8] {
      (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
    }
    func reference() -> RowReference {
      RowReference(table: 3, key: UInt64.random(in: 1...RowReference.maximumKey, using: &generator))
    }
    switch type {
    case .integer: return .integer(.random(in: .min ... .max, using: &generator))
    case .double, .date: return .double(.random(in: -1e9...1e9, using: &generator))
    case .bool: return .bool(.random(using: &generator))
    case .uuid: return .uuid(generator.next(), generator.next())
    case .reference: return .reference(reference())
    case .text: return .text(String(bytes().map { Character(UnicodeScalar($0)) }))
    case .bytes, .structured, .blob: return .bytes(bytes())
    case .references:
      return .references((0..<Int.random(in: 0...30, using: &generator)).map { _ in reference() })
    }
  }

  func write(to writer: inout RowWriter, _ column: Int) {
    switch self {
    case .null: break
    case .integer(let value): writer.set(column, integer: value)
    case .double(let value): writer.set(column, double: value)
    case .bool(let value): writer.set(column, bool: value)
    case .uuid(let low, let high): writer.set(column, uuid: (low, high))
    case .reference(let value): writer.set(column, reference: value)
    case .text(let value): writer.append(column, text: value)
    case .bytes(let value):
      value.withUnsafeBytes { writer.append(column, bytes: $0.bytes) }
    case .references(let value): writer.append(column, references: value)
    }
  }

  static func read(_ row: RawSpan, _ column: Int, _ layout: RowLayout) -> Cell {
    if layout.isNull(column, in: row) { return .null }
    switch layout.types[column] {
    case .integer: return .integer(layout.integer(column, in: row))
    case .double, .date: return .double(layout.double(column, in: row))
    case .bool: return .bool(layout.bool(column, in: row))
    case .uuid:
      let (low, high) = layout.uuid(column, in: row)
      return .uuid(low, high)
    case .reference: return .reference(layout.reference(column, in: row))
    case .text: return .text(layout.text(column, in: row))
    case .bytes, .structured, .blob:
      let range = layout.range(column, in: row)
      return .bytes(range.map { row.load(UInt8.self, at: $0) })
    case .references: return .references(layout.references(column, in: row))
    }
  }
}

/// Writes one row and returns its bytes.
func encode(_ cells: [Cell], _ layout: RowLayout) -> [UInt8] {
  var writer = RowWriter()
  writer.begin(layout)
  for (column, cell) in cells.enumerated() { cell.write(to: &writer, column) }
  let range = writer.finish()
  return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
}

/// Reads every column of a row.
func decode(_ row: [UInt8], _ layout: RowLayout) -> [Cell] {
  row.withUnsafeBytes { bytes in
    layout.types.indices.map { Cell.read(bytes.bytes, $0, layout) }
  }
}

/// Every column type twice, in an order that mixes fixed and variable ones.
let everyType = RowLayout(ColumnType.allCases + ColumnType.allCases.reversed())
