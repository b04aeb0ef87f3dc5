import Foundation

/// One sort key of many rows, each value taken out once.
///
/// Values compare as `SortDescriptor` compares them: nil first, text by `<` unless a comparator says otherwise,
/// all the other way round when the order is reversed.
struct SortColumn {
  let kind: QueryKind
  let isReversed: Bool
  /// How text compares, if not by `<`.
  let textOrder: TextOrder?

  // One of these is filled, by kind; a nil has a place-holder.
  private var integers: [Int64] = []
  private var doubles: [Double] = []
  private var texts: [String] = []
  private var uuids: [QueryUUID] = []
  /// Where the nils are; empty while there is none.
  private var nulls: [Bool] = []
  private(set) var count = 0
  /// Whether the column has a NaN, which is in no order with anything.
  private(set) var isUnordered = false
  private var arePlain = true

  init(kind: QueryKind, order: SortOrder, textOrder: TextOrder? = nil) {
    self.kind = kind
    isReversed = order == .reverse
    self.textOrder = textOrder
  }

  mutating func append(_ value: QueryValue) {
    switch (kind, value) {
    case (.integer, .integer(let value)), (.unsigned, .integer(let value)): integers.append(value)
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .double(let value)):
      isUnordered = isUnordered || value.isNaN
      doubles.append(value)
    case (.text, .text(let value)):
      arePlain = arePlain && value.isPlain
      texts.append(value)
    case (.uuid, .uuid(let value)): uuids.append(value)
    default: return appendNull()
    }
    count += 1
    if !nulls.isEmpty { nulls.append(false) }
  }

  private mutating func appendNull() {
    switch kind {
    case .integer, .unsigned: integers.append(0)
    case .double, .float, .date: doubles.append(0)
    case .text: texts.append("")
    default: uuids.append(QueryUUID(0, 0))
    }
    if nulls.isEmpty { nulls = Array(repeating: false, count: count) }
    nulls.append(true)
    count += 1
  }

  /// Forgets the value that was added last.
  mutating func removeLast() {
    switch kind {
    case .integer, .unsigned: integers.removeLast()
    case .double, .float, .date: doubles.removeLast()
    case .text: texts.removeLast()
    default: uuids.removeLast()
    }
    if !nulls.isEmpty { nulls.removeLast() }
    count -= 1
  }

  /// Keeps the values of some rows, in a new order.
  mutating func keep(_ rows: [Int]) {
    switch kind {
    case .integer, .unsigned: integers = rows.map { integers[$0] }
    case .double, .float, .date: doubles = rows.map { doubles[$0] }
    case .text: texts = rows.map { texts[$0] }
    default: uuids = rows.map { uuids[$0] }
    }
    if !nulls.isEmpty { nulls = rows.map { nulls[$0] } }
    count = rows.count
  }
}

extension SortColumn {
  /// How the values of two rows compare: by sign.
  func compare(_ lhs: Int, _ rhs: Int) -> Int {
    let order = forward(lhs, rhs)
    return isReversed ? -order : order
  }

  private func forward(_ lhs: Int, _ rhs: Int) -> Int {
    if !nulls.isEmpty && (nulls[lhs] || nulls[rhs]) {
      return nulls[lhs] == nulls[rhs] ? 0 : nulls[lhs] ? -1 : 1
    }
    switch kind {
    case .integer: return sign(integers[lhs], integers[rhs])
    case .unsigned:
      return sign(UInt64(bitPattern: integers[lhs]), UInt64(bitPattern: integers[rhs]))
    case .double, .float, .date: return sign(doubles[lhs], doubles[rhs])
    case .text:
      if let textOrder { return textOrder.compare(texts[lhs], texts[rhs]).rawValue }
      return sign(texts[lhs], texts[rhs])
    default: return sign(uuids[lhs], uuids[rhs])
    }
  }

  @inline(__always)
  private func sign<T: Comparable>(_ lhs: T, _ rhs: T) -> Int { lhs < rhs ? -1 : lhs > rhs ? 1 : 0 }
}

extension SortColumn {
  /// Whether ``prefix(of:)`` says anything.
  var hasPrefix: Bool { !isUnordered && (kind != .text || (arePlain && textOrder == nil)) }

  /// A number that never falls from a row to one that comes later: what a sort looks at first.
  func prefix(of row: Int) -> UInt64 {
    let forward = forwardPrefix(of: row)
    return isReversed ? ~forward : forward
  }

  private func forwardPrefix(of row: Int) -> UInt64 {
    if !nulls.isEmpty && nulls[row] { return 0 }
    switch kind {
    case .integer: return UInt64(bitPattern: integers[row] ^ .min)
    case .unsigned: return UInt64(bitPattern: integers[row])
    case .double, .float, .date:
      // The bits of doubles are ordered like integers, but for negative ones, which run backwards, and for
      // the two zeros, which are equal.
      let bits = (doubles[row] + 0).bitPattern
      return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    case .text: return texts[row].leadingBytes
    default: return uuids[row].low.byteSwapped
    }
  }
}

extension String {
  /// Whether equal bytes and equal texts are the same thing; see ``TextPattern``.
  fileprivate var isPlain: Bool { utf8.allSatisfy { $0 < 0xCC } }

  /// The first eight bytes as a number that is ordered as they are.
  fileprivate var leadingBytes: UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 64
    for byte in utf8.prefix(8) {
      shift -= 8
      result |= UInt64(byte) << shift
    }
    return result
  }
}
