/// The function that a measure applies to the values of a property.
package enum MeasureFunction: Sendable {
  /// The number of values.
  case count
  case sum
  case minimum, maximum
  /// The mean, and the spread of the values around it.
  case moments
  /// All values, as doubles.
  case distribution
  /// The distinct values.
  case distinct
  /// The value of the row that is first, or last, in the order of another value.
  case first, last
}

/// Collects the values of each group that a measure needs.
///
/// One class for each kind of measure, so that code with whole columns of values determines the kind once and then adds
/// numbers; ``add(_:to:)`` serves for everything else. Callers never pass null values, which count for nothing.
package class Accumulator {
  /// Grows to a number of groups.
  package func grow(to groupCount: Int) { notOverridden() }

  /// Adds a non-null value to a group.
  package func add(_ value: QueryValue, to group: Int) { notOverridden() }

  /// Adds a value, possibly null, of a row that a second, non-null value puts in order; rows that are equal there are ordered
  /// by their places.
  package func add(_ value: QueryValue, by order: QueryValue, at place: UInt64, to group: Int) {
    notOverridden()
  }

  /// Adds a group of another accumulator of the same measure.
  package func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) { notOverridden() }

  /// Approximate memory of the groups, in bytes.
  package var byteCount: Int { notOverridden() }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }

  /// Returns an accumulator for a measure, without groups.
  package static func make(_ measure: AggregateRequest.Measure) -> Accumulator {
    let (function, kind) = (measure.function, measure.kind)
    switch function {
    case .count: return CountAccumulator()
    case .sum:
      return switch kind {
      case .integer: IntegerSumAccumulator(isSigned: true)
      case .unsigned: IntegerSumAccumulator(isSigned: false)
      default: DoubleSumAccumulator()
      }
    case .minimum, .maximum:
      return switch kind {
      case .integer: IntegerExtremeAccumulator(function)
      case .double, .float, .date: DoubleExtremeAccumulator(function)
      default: ValueExtremeAccumulator(function, kind ?? .text)
      }
    case .moments: return MomentAccumulator(isSigned: kind != .unsigned)
    case .distribution: return DistributionAccumulator(isSigned: kind != .unsigned)
    case .distinct: return DistinctAccumulator()
    case .first, .last: return ChosenValueAccumulator(function, measure.orderKind ?? .integer)
    }
  }
}

package final class CountAccumulator: Accumulator {
  package var counts: [Int] = []

  package override func grow(to groupCount: Int) { counts.grow(to: groupCount, 0) }

  package override var byteCount: Int { counts.count * MemoryLayout<Int>.stride }
  package override func add(_: QueryValue, to group: Int) { counts[group] += 1 }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    if let other = other as? CountAccumulator { counts[group] += other.counts[otherGroup] }
  }
}

package final class IntegerSumAccumulator: Accumulator {
  package let isSigned: Bool
  package var sums: [Int128] = []
  package var counts: [Int] = []

  init(isSigned: Bool) { self.isSigned = isSigned }

  package override func grow(to groupCount: Int) {
    sums.grow(to: groupCount, 0)
    counts.grow(to: groupCount, 0)
  }

  package override var byteCount: Int {
    sums.count * (MemoryLayout<Int128>.stride + MemoryLayout<Int>.stride)
  }

  package override func add(_ value: QueryValue, to group: Int) {
    guard case .integer(let bits) = value else { return }
    sums[group] += isSigned ? Int128(bits) : Int128(UInt64(bitPattern: bits))
    counts[group] += 1
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? IntegerSumAccumulator else { return }
    sums[group] += other.sums[otherGroup]
    counts[group] += other.counts[otherGroup]
  }
}

package final class DoubleSumAccumulator: Accumulator {
  package var sums: [CompensatedSum] = []
  package var counts: [Int] = []

  package override func grow(to groupCount: Int) {
    sums.grow(to: groupCount, CompensatedSum())
    counts.grow(to: groupCount, 0)
  }

  package override var byteCount: Int {
    sums.count * (MemoryLayout<CompensatedSum>.stride + MemoryLayout<Int>.stride)
  }

  package override func add(_ value: QueryValue, to group: Int) {
    guard case .double(let value) = value else { return }
    sums[group].add(value)
    counts[group] += 1
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? DoubleSumAccumulator else { return }
    sums[group].add(other.sums[otherGroup])
    counts[group] += other.counts[otherGroup]
  }
}

/// A sum of doubles that carries the rounding errors of single additions along, after Neumaier.
package struct CompensatedSum {
  @usableFromInline var sum = 0.0
  @usableFromInline var lost = 0.0

  package init() {}

  /// - Parameters:
  ///   - sum: The result of plain additions.
  ///   - lost: The amount they rounded away.
  package init(sum: Double, lost: Double) { (self.sum, self.lost) = (sum, lost) }

  /// The sum; infinite or not a number if plain additions would give that.
  package var value: Double { sum.isFinite ? sum + lost : sum }

  @inlinable @inline(__always)
  package mutating func add(_ value: Double) {
    let next = sum + value
    lost += abs(sum) >= abs(value) ? (sum - next) + value : (value - next) + sum
    sum = next
  }

  package mutating func add(_ other: CompensatedSum) {
    add(other.sum)
    lost += other.lost
  }
}

package final class IntegerExtremeAccumulator: Accumulator {
  package let wantsGreatest: Bool
  package var values: [Int64] = []
  package var isPresent: [Bool] = []

  init(_ function: MeasureFunction) { wantsGreatest = function == .maximum }

  package override func grow(to groupCount: Int) {
    values.grow(to: groupCount, wantsGreatest ? .min : .max)
    isPresent.grow(to: groupCount, false)
  }

  package override var byteCount: Int { values.count * (MemoryLayout<Int64>.stride + 1) }

  package func add(_ value: Int64, to group: Int) {
    values[group] = wantsGreatest ? max(values[group], value) : min(values[group], value)
    isPresent[group] = true
  }

  package override func add(_ value: QueryValue, to group: Int) {
    if case .integer(let value) = value { add(value, to: group) }
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? IntegerExtremeAccumulator, other.isPresent[otherGroup] else {
      return
    }
    add(other.values[otherGroup], to: group)
  }
}

/// The least or greatest of doubles; NaN only if a group has no other value.
package final class DoubleExtremeAccumulator: Accumulator {
  package let wantsGreatest: Bool
  package var values: [Double] = []
  package var isPresent: [Bool] = []

  init(_ function: MeasureFunction) { wantsGreatest = function == .maximum }

  package override func grow(to groupCount: Int) {
    values.grow(to: groupCount, .nan)
    isPresent.grow(to: groupCount, false)
  }

  package override var byteCount: Int { values.count * (MemoryLayout<Double>.stride + 1) }

  package func add(_ value: Double, to group: Int) {
    isPresent[group] = true
    let known = values[group]
    if known.isNaN || (wantsGreatest ? value > known : value < known) { values[group] = value }
  }

  package override func add(_ value: QueryValue, to group: Int) {
    if case .double(let value) = value { add(value, to: group) }
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? DoubleExtremeAccumulator, other.isPresent[otherGroup] else {
      return
    }
    add(other.values[otherGroup], to: group)
  }
}

/// The least or greatest of values of any kind that has an order.
package final class ValueExtremeAccumulator: Accumulator {
  private let wantsGreatest: Bool
  private let kind: QueryKind
  package private(set) var values: [QueryValue] = []
  /// Memory of texts outside of the values, in bytes.
  private var heapByteCount = 0

  init(_ function: MeasureFunction, _ kind: QueryKind) {
    wantsGreatest = function == .maximum
    self.kind = kind
  }

  package override func grow(to groupCount: Int) { values.grow(to: groupCount, .null) }

  package override var byteCount: Int {
    values.count * MemoryLayout<QueryValue>.stride + heapByteCount
  }

  package override func add(_ value: QueryValue, to group: Int) {
    let known = values[group]
    if known.isNull
      || (wantsGreatest ? known.precedes(value, as: kind) : value.precedes(known, as: kind))
    {
      heapByteCount += value.heapByteCount - known.heapByteCount
      values[group] = value
    }
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? ValueExtremeAccumulator, !other.values[otherGroup].isNull else {
      return
    }
    add(other.values[otherGroup], to: group)
  }
}

package final class MomentAccumulator: Accumulator {
  /// Number of values, their mean, and the sum of squared distances from it, after Welford.
  package struct Moments {
    package var count = 0
    package var mean = 0.0
    package var squares = 0.0

    package mutating func add(_ value: Double) {
      count += 1
      let distance = value - mean
      mean += distance / Double(count)
      squares += distance * (value - mean)
    }

    mutating func add(_ other: Moments) {
      if other.count == 0 { return }
      // The square of a great mean is infinite, and nothing times that is no number.
      if count == 0 { return self = other }
      let total = Double(count + other.count)
      let distance = other.mean - mean
      squares += other.squares + distance * distance * Double(count) * Double(other.count) / total
      mean += distance * Double(other.count) / total
      count += other.count
    }
  }

  package let isSigned: Bool
  package var groups: [Moments] = []

  init(isSigned: Bool) { self.isSigned = isSigned }

  package override func grow(to groupCount: Int) { groups.grow(to: groupCount, Moments()) }

  package override var byteCount: Int { groups.count * MemoryLayout<Moments>.stride }

  package override func add(_ value: QueryValue, to group: Int) {
    if let value = value.number(isSigned: isSigned) { groups[group].add(value) }
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    if let other = other as? MomentAccumulator { groups[group].add(other.groups[otherGroup]) }
  }
}

package final class DistributionAccumulator: Accumulator {
  package let isSigned: Bool
  package var groups: [[Double]] = []
  /// Number of values in all groups.
  package var valueCount = 0

  init(isSigned: Bool) { self.isSigned = isSigned }

  package override func grow(to groupCount: Int) { groups.grow(to: groupCount, []) }

  package override var byteCount: Int {
    groups.count * 48 + valueCount * MemoryLayout<Double>.stride * 3 / 2
  }

  /// The value at a place in a group's ascending order, and the next one; `nil` if it is the last.
  ///
  /// - Complexity: O(values) on average.
  func values(at place: Int, in group: Int) -> (value: Double, next: Double?) {
    var values: [Double] = []
    swap(&values, &groups[group])
    defer { swap(&values, &groups[group]) }
    values.select(place)
    return (values[place], values[(place + 1)...].min())
  }

  package override func add(_ value: QueryValue, to group: Int) {
    guard let value = value.number(isSigned: isSigned), !value.isNaN else { return }
    groups[group].append(value)
    valueCount += 1
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? DistributionAccumulator else { return }
    valueCount += other.groups[otherGroup].count
    if groups[group].isEmpty {
      groups[group] = other.groups[otherGroup]
    } else {
      groups[group] += other.groups[otherGroup]
    }
  }
}

package final class DistinctAccumulator: Accumulator {
  private var groups: [DistinctKeys] = []
  private var valueCount = 0
  /// Memory of texts and bytes outside of the values, in bytes.
  private var heapByteCount = 0

  package override func grow(to groupCount: Int) { groups.grow(to: groupCount, DistinctKeys()) }

  package override var byteCount: Int {
    groups.count * 16 + valueCount * Self.valueByteCount + heapByteCount
  }

  /// Bytes per value in a list and in a set, part of whose capacity is free.
  package static let valueByteCount = MemoryLayout<KeyValue>.stride * 3

  /// Number of different values in a group.
  func count(in group: Int) -> Int { groups[group].count }

  package override func add(_ value: QueryValue, to group: Int) {
    insert(KeyValue(value), to: group)
  }

  /// Adds a value that the group must not have yet.
  package func append(_ value: KeyValue, to group: Int) {
    groups[group].append(value)
    record(value)
  }

  private func insert(_ value: KeyValue, to group: Int) {
    if groups[group].insert(value) { record(value) }
  }

  private func record(_ value: KeyValue) {
    valueCount += 1
    heapByteCount += value.heapByteCount
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? DistinctAccumulator else { return }
    if groups[group].count > 0 {
      for value in other.groups[otherGroup].values { insert(value, to: group) }
    } else {
      groups[group] = other.groups[otherGroup]
      for value in groups[group].values { record(value) }
    }
  }
}

/// Distinct values: a list, and a set of the same values that is made at the first insertion of one that may be a duplicate.
private struct DistinctKeys {
  private(set) var values: [KeyValue] = []
  private var known: Set<KeyValue> = []

  var count: Int { values.count }

  mutating func append(_ value: KeyValue) {
    values.append(value)
    if !known.isEmpty { known.insert(value) }
  }

  /// - Returns: Whether the value is a new one.
  mutating func insert(_ value: KeyValue) -> Bool {
    if known.isEmpty { known = Set(values) }
    guard known.insert(value).inserted else { return false }
    values.append(value)
    return true
  }
}

/// The value of the row that is first or last by another value; of rows that are equal there, of the first or last by name.
package final class ChosenValueAccumulator: Accumulator {
  /// The order of a row compared with the row chosen so far.
  package enum Standing { case worse, equal, better }

  private let wantsLast: Bool
  private let kind: QueryKind
  private var orders: [QueryValue] = []
  private var places: [UInt64] = []
  package private(set) var values: [QueryValue] = []
  /// Memory of texts outside of the values, in bytes.
  private var heapByteCount = 0

  init(_ function: MeasureFunction, _ kind: QueryKind) {
    wantsLast = function == .last
    self.kind = kind
  }

  package override func grow(to groupCount: Int) {
    orders.grow(to: groupCount, .null)
    places.grow(to: groupCount, 0)
    values.grow(to: groupCount, .null)
  }

  package override var byteCount: Int {
    values.count * (MemoryLayout<QueryValue>.stride * 2 + MemoryLayout<UInt64>.stride)
      + heapByteCount
  }

  /// Compares a row, by the value that orders rows, with the row chosen so far.
  package func standing(of order: QueryValue, in group: Int) -> Standing {
    let known = orders[group]
    if known.isNull { return .better }
    if known.isNaN || order.isNaN {
      return known.isNaN == order.isNaN ? .equal : known.isNaN ? .better : .worse
    }
    if order.precedes(known, as: kind) { return wantsLast ? .worse : .better }
    if known.precedes(order, as: kind) { return wantsLast ? .better : .worse }
    return .equal
  }

  /// Offers a row; its place distinguishes it from other rows that are equal, and of several rows at one place the first
  /// one offered comes first.
  package override func add(
    _ value: QueryValue,
    by order: QueryValue,
    at place: UInt64,
    to group: Int
  ) {
    switch standing(of: order, in: group) {
    case .worse: return
    case .equal where wantsLast ? place < places[group] : place >= places[group]: return
    case .equal, .better:
      heapByteCount += order.heapByteCount + value.heapByteCount
      heapByteCount -= orders[group].heapByteCount + values[group].heapByteCount
      (orders[group], values[group], places[group]) = (order, value, place)
    }
  }

  package override func add(_ other: Accumulator, _ otherGroup: Int, to group: Int) {
    guard let other = other as? ChosenValueAccumulator, !other.orders[otherGroup].isNull else {
      return
    }
    add(
      other.values[otherGroup],
      by: other.orders[otherGroup],
      at: other.places[otherGroup],
      to: group
    )
  }
}

extension Array {
  fileprivate mutating func grow(to count: Int, _ value: Element) {
    if self.count < count { append(contentsOf: repeatElement(value, count: count - self.count)) }
  }
}

extension QueryValue {
  fileprivate var isNaN: Bool { if case .double(let value) = self { value.isNaN } else { false } }

  /// A number as a double.
  fileprivate func number(isSigned: Bool) -> Double? {
    switch self {
    case .integer(let bits): isSigned ? Double(bits) : Double(UInt64(bitPattern: bits))
    case .double(let value): value
    default: nil
    }
  }
}
