/// The figures of one metric over all repetitions, in their order.
public struct Series: Sendable {
  public private(set) var values: [Double] = []

  public init(_ values: [Double] = []) { self.values = values }

  mutating func append(_ value: Double) { values.append(value) }

  /// The middle figure: half of the repetitions were no better, half no worse.
  public var median: Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  public var min: Double { values.min() ?? .nan }
  public var max: Double { values.max() ?? .nan }

  /// The figures as shares of another series', round by round.
  ///
  /// Both were measured within a moment of each other, so what else the machine did in that moment
  /// hit both, and most of it cancels out.
  func shares(of other: Series) -> Series {
    Series(zip(values, other.values).map { $0 / $1 })
  }
}
