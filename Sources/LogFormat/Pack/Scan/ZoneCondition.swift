import RowFormat

/// A condition that all rows of interest meet: blocks whose bounds rule it out are not read.
///
/// A condition may let blocks without such a row pass, but never the other way round.
public enum ZoneCondition: Sendable, Hashable {
  /// An integer, a reference (its raw value) or a bool (0 or 1) in a range.
  case integer(column: UInt16, ClosedRange<Int64>)
  /// A double or date in a range; NaN is in none.
  case double(column: UInt16, ClosedRange<Double>)
  /// Bytes that compare no less than `from` and no greater than `through`.
  case bytes(column: UInt16, from: [UInt8], through: [UInt8]?)
  /// Null.
  case null(column: UInt16)
  /// Any value but null.
  case notNull(column: UInt16)
  /// A double or date that is NaN.
  case notANumber(column: UInt16)
  /// Another condition, or null.
  indirect case orNull(ZoneCondition)

  package var column: UInt16 {
    switch self {
    case .integer(let column, _), .double(let column, _), .bytes(let column, _, _),
      .null(let column), .notNull(let column), .notANumber(let column):
      column
    case .orNull(let condition): condition.column
    }
  }

  /// Whether a block may have such a row; `zone` is `nil` if its rows lack the column.
  package func mayHold(_ zone: ZoneMap?, _ type: ColumnType?) -> Bool {
    if case .orNull(let condition) = self {
      return condition.mayHold(zone, type)
        || ZoneCondition.null(column: condition.column).mayHold(zone, type)
    }
    guard let zone, let type else {
      if case .null = self { return true }
      return false
    }
    let order = ZoneMap.order(of: type)
    let hasValues = zone.flags & ZoneMap.hasValues != 0
    switch self {
    case .null, .orNull: return zone.flags & ZoneMap.hasNulls != 0
    case .notNull: return hasValues
    case .notANumber: return zone.flags & ZoneMap.hasNotANumber != 0
    case .integer(_, let range):
      guard order == .integer else { return hasValues }
      return hasValues && Int64(bitPattern: zone.low) <= range.upperBound
        && range.lowerBound <= Int64(bitPattern: zone.high)
    case .double(_, let range):
      guard order == .double else { return hasValues }
      return hasValues && Double(bitPattern: zone.low) <= range.upperBound
        && range.lowerBound <= Double(bitPattern: zone.high)
    case .bytes(_, let from, let through):
      guard order == .prefix else { return hasValues }
      return hasValues && Self.prefix(from) <= zone.high
        && (through.map { zone.low <= Self.prefix($0) } ?? true)
    }
  }

  private static func prefix(_ bytes: [UInt8]) -> UInt64 {
    var prefix: UInt64 = 0
    for (index, byte) in bytes.prefix(8).enumerated() {
      prefix |= UInt64(byte) << UInt64(56 - 8 * index)
    }
    return prefix
  }
}
