import Foundation

/// One sort key of many rows, each value extracted once.
///
/// Values compare as in `SortDescriptor`: nil first, text by `<` unless there is a comparator,
/// all reversed if the order is reversed. NaN, for which `SortDescriptor` has no place, comes after all
/// numbers.
struct SortColumn {
  let kind: QueryKind
  let isReversed: Bool
  /// The comparison of text, if not by `<`.
  let textOrder: TextOrder?

  // One of these is filled, by kind; a nil has a placeholder.
  private var integers: [Int64] = []
  private var doubles: [Double] = []
  private var texts: [String] = []
  private var uuids: [QueryUUID] = []
  /// Whether each value is nil; empty while none is.
  private var nulls: [Bool] = []
  private(set) var count = 0
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
      doubles.append(value)
    case (.text, .text(let value)):
      arePlain = arePlain && value.isPlainText
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

  /// Replaces a value.
  mutating func replace(_ row: Int, with value: QueryValue) {
    append(value)
    switch kind {
    case .integer, .unsigned: integers.swapAt(row, count - 1)
    case .double, .float, .date: doubles.swapAt(row, count - 1)
    case .text: texts.swapAt(row, count - 1)
    default: uuids.swapAt(row, count - 1)
    }
    if !nulls.isEmpty { nulls.swapAt(row, count - 1) }
    removeLast()
  }

  /// Removes the value that was added last.
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
  /// Compares the values of two rows; the sign is the order.
  func compare(_ lhs: Int, _ rhs: Int) -> Int {
    let order = forward(lhs, rhs)
    return isReversed ? -order : order
  }

  private func forward(_ lhs: Int, _ rhs: Int) -> Int {
    if isNull(lhs) || isNull(rhs) {
      return isNull(lhs) == isNull(rhs) ? 0 : isNull(lhs) ? -1 : 1
    }
    switch kind {
    case .integer: return sign(integers[lhs], integers[rhs])
    case .unsigned:
      return sign(UInt64(bitPattern: integers[lhs]), UInt64(bitPattern: integers[rhs]))
    case .double, .float, .date: return order(doubles[lhs], doubles[rhs])
    case .text:
      if let textOrder { return textOrder.compare(texts[lhs], texts[rhs]).rawValue }
      return arePlain ? sign(texts[lhs], texts[rhs]) : texts[lhs].canonicalOrder(texts[rhs])
    default: return sign(uuids[lhs], uuids[rhs])
    }
  }

  @inline(__always)
  private func order(_ lhs: Double, _ rhs: Double) -> Int {
    let order = sign(lhs, rhs)
    if order != 0 || lhs == rhs { return order }
    return (lhs.isNaN ? 1 : 0) - (rhs.isNaN ? 1 : 0)
  }

  @inline(__always)
  private func sign<T: Comparable>(_ lhs: T, _ rhs: T) -> Int { lhs < rhs ? -1 : lhs > rhs ? 1 : 0 }
}

extension SortColumn {
  /// Whether ``prefixes()`` are useful.
  var hasPrefix: Bool { kind != .text || (arePlain && textOrder == nil) }

  /// A number for each of some rows that never decreases in the order of the rows, for a sort to compare first.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - decides: Set to whether rows with equal numbers have equal values.
  /// - Returns: The numbers, in the order of the rows.
  func prefixes(of rows: ArraySlice<Int>, _ decides: inout Bool) -> [UInt64] {
    var skipped = 0
    switch kind {
    case .integer, .unsigned, .double, .float, .date: decides = nulls.isEmpty
    case .text: (skipped, decides) = commonByteCount(rows)
    default: decides = false
    }
    return rows.map { row in
      let forward = forwardPrefix(of: row, skipping: skipped)
      return isReversed ? ~forward : forward
    }
  }

  /// Number of bytes that are a common prefix of some rows' texts, and irrelevant to their order; and whether the
  /// next eight distinguish them.
  private func commonByteCount(_ rows: ArraySlice<Int>) -> (count: Int, decides: Bool) {
    guard let start = rows.first(where: { !isNull($0) }) else { return (0, true) }
    let first = texts[start].utf8
    var (common, shortest, longest) = (first.count, Int.max, 0)
    var (hasNull, hasZero) = (false, false)
    for row in rows {
      if isNull(row) {
        hasNull = true
        continue
      }
      let text = texts[row].utf8
      if common > 0 { common = zip(first.prefix(common), text).prefix { $0 == $1 }.count }
      shortest = min(shortest, text.count)
      longest = max(longest, text.count)
      if longest <= common + 8, !hasZero { hasZero = text.contains(0) }
    }
    // A missing byte counts as zero, and so does nil.
    let decides = longest <= common + 8 && !hasZero && !(hasNull && shortest == common)
    return (common, decides)
  }

  private func isNull(_ row: Int) -> Bool { !nulls.isEmpty && nulls[row] }

  private func forwardPrefix(of row: Int, skipping skipped: Int) -> UInt64 {
    if isNull(row) { return 0 }
    switch kind {
    case .integer: return UInt64(bitPattern: integers[row] ^ .min)
    case .unsigned: return UInt64(bitPattern: integers[row])
    case .double, .float, .date:
      // The bits of doubles are ordered like integers, except for negative ones, which are reversed, and for
      // the two zeros, which are equal; and NaN has many forms.
      if doubles[row].isNaN { return .max }
      let bits = (doubles[row] + 0).bitPattern
      return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    case .text: return texts[row].leadingBytes(skipping: skipped)
    default: return uuids[row].low.byteSwapped
    }
  }
}

extension String {
  /// Whether all scalars are below U+0300: two such texts are equal exactly if their bytes are.
  ///
  /// A text with higher scalars may still be equal to one of them. See ``TextPattern``.
  package var isPlainText: Bool { utf8.allSatisfy { $0 < 0xCC } }

  /// Eight bytes as a number with the same order.
  fileprivate func leadingBytes(skipping skipped: Int) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 64
    for byte in utf8.dropFirst(skipped).prefix(8) {
      shift -= 8
      result |= UInt64(byte) << shift
    }
    return result
  }
}
