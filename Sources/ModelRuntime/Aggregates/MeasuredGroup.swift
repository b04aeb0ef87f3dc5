import Foundation

/// The result of a measure for one group.
struct MeasuredGroup {
  let accumulator: Accumulator
  let group: Int

  var count: Int { (accumulator as? CountAccumulator)?.counts[group] ?? 0 }

  var distinctCount: Int { (accumulator as? DistinctAccumulator)?.count(in: group) ?? 0 }

  /// - Throws: ``SwiftDataError/aggregateOverflow``.
  func integerSum<Value: FixedWidthInteger>(as _: Value.Type) throws -> Value {
    guard let sums = accumulator as? IntegerSumAccumulator else { return 0 }
    guard let sum = Value(exactly: sums.sums[group]) else {
      throw SwiftDataError.aggregateOverflow.explained(
        "the sum of \(sums.counts[group]) values is \(sums.sums[group]), which no \(Value.self) can hold: "
          + "ask for the average, or sum the property as a Double"
      )
    }
    return sum
  }

  var doubleSum: Double { (accumulator as? DoubleSumAccumulator)?.sums[group].value ?? 0 }

  var mean: Double? {
    switch accumulator {
    case let sums as IntegerSumAccumulator:
      let count = sums.counts[group]
      return count == 0 ? nil : Double(sums.sums[group]) / Double(count)
    case let sums as DoubleSumAccumulator:
      let count = sums.counts[group]
      return count == 0 ? nil : sums.sums[group].value / Double(count)
    default: return nil
    }
  }

  var standardDeviation: Double? {
    guard let moments = (accumulator as? MomentAccumulator)?.groups[group], moments.count > 0
    else { return nil }
    return (moments.squares / Double(moments.count)).squareRoot()
  }

  func percentile(_ share: Double) -> Double? {
    guard let values = accumulator as? DistributionAccumulator, !values.groups[group].isEmpty
    else { return nil }
    let place = share * Double(values.groups[group].count - 1)
    let rest = place - place.rounded(.down)
    let (lower, upper) = values.values(at: Int(place), in: group)
    // Not the difference of both: that of infinities is no number.
    return rest == 0 ? lower : lower * (1 - rest) + (upper ?? lower) * rest
  }

  var chosen: QueryValue? { (accumulator as? ChosenValueAccumulator)?.values[group] }

  var extreme: QueryValue? {
    switch accumulator {
    case let extremes as IntegerExtremeAccumulator:
      extremes.isPresent[group] ? .integer(extremes.values[group]) : nil
    case let extremes as DoubleExtremeAccumulator:
      extremes.isPresent[group] ? .double(extremes.values[group]) : nil
    case let extremes as ValueExtremeAccumulator:
      extremes.values[group].isNull ? nil : extremes.values[group]
    default: nil
    }
  }
}
