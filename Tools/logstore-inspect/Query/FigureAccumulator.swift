import Terminal

/// A figure about the rows of a group, while they are visited.
struct FigureAccumulator {
  private let item: SelectItem
  /// Whether it is about integers without a sign.
  private let isUnsigned: Bool
  private var count = 0
  private var integerSum: Int128 = 0
  private var sum = 0.0
  private var areIntegers = true
  private var least: Datum?
  private var greatest: Datum?
  private var values: Set<DatumKey> = []

  init(_ item: SelectItem, isUnsigned: Bool) {
    self.item = item
    self.isUnsigned = isUnsigned
  }

  /// Adds the value of a row; of `count` alone, anything but null.
  mutating func add(_ value: Datum) {
    if value == .null { return }
    count += 1
    switch item.function {
    case .count, nil: break
    case .distinct: values.insert(DatumKey(value))
    case .min: if least.map(value.precedes) ?? true { least = value }
    case .max: if greatest.map({ $0.precedes(value) }) ?? true { greatest = value }
    case .sum, .avg:
      switch value {
      case .integer(let integer): integerSum += Int128(integer)
      case .unsigned(let integer): integerSum += Int128(integer)
      default: areIntegers = false
      }
      sum += value.number ?? 0
    }
  }

  /// The figure.
  ///
  /// - Throws: ``ToolError`` for a sum of integers that 64 bits do not hold.
  func value() throws(ToolError) -> Datum {
    switch item.function {
    case .count, nil: return .integer(Int64(count))
    case .distinct: return .integer(Int64(values.count))
    case .min: return least ?? .null
    case .max: return greatest ?? .null
    case .avg: return count == 0 ? .null : .double(sum / Double(count))
    case .sum:
      guard areIntegers else { return .double(sum) }
      if let sum = Int64(exactly: integerSum) { return .integer(sum) }
      if isUnsigned, let sum = UInt64(exactly: integerSum) { return .unsigned(sum) }
      throw ToolError(
        "a sum does not fit 64 bits",
        expected: isUnsigned ? "0 to \(UInt64.max)" : "\(Int64.min) to \(Int64.max)",
        found: "\(integerSum), for \(item.name)",
        advice: "avg and count are not limited"
      )
    }
  }
}
