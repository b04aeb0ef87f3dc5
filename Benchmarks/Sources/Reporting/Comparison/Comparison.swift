import Foundation
public import Harness

/// The figures that became slower or faster, larger or smaller, between two runs on the same machine.
///
/// A change counts if each run's median lies outside of the other's rounds, least to greatest, and the
/// medians differ by a twentieth. The spread of fewer than three rounds is unknown; then only numbers of
/// bytes on disk count, which rounds do not change. If a floor was measured in the same rounds of both runs, the
/// rest of the change beside the floor's must be a twentieth too: the floor moves with the machine.
public struct Comparison {
  /// A change beyond the spread of both runs.
  struct Change {
    let old: Measurement
    let new: Measurement
    /// The factor by which it became worse; below one, it is better.
    let factor: Double
    /// The same of the floor.
    let floorFactor: Double?

    var isWorse: Bool { factor > 1 }
  }

  /// All changes, the worst first.
  let changes: [Change]
  /// Number of figures that both runs have.
  let comparedCount: Int
  /// Number of figures that only one of them has.
  let unmatchedCount: Int

  private static let leastFactor = 1.05

  /// Compares two runs.
  ///
  /// - Parameters:
  ///   - old: The figures to compare with.
  ///   - new: The present figures.
  public init(old: [Measurement], new: [Measurement]) {
    // Results stored before they had groups are compared by names alone, and the first of a name counts.
    let hasGroups = old.allSatisfy { $0.group != nil } && new.allSatisfy { $0.group != nil }
    let before = Dictionary(old.map { (Key($0, hasGroups), $0) }) { first, _ in first }
    let after = Dictionary(new.map { (Key($0, hasGroups), $0) }) { first, _ in first }
    let shared = before.keys.filter { after[$0] != nil }
    comparedCount = shared.count
    unmatchedCount = before.count + after.count - 2 * shared.count
    changes = shared.compactMap { key in
      guard let old = before[key], let new = after[key] else { return nil }
      let floor = key.floor
      return Self.change(
        old,
        new,
        floors: key == floor ? (nil, nil) : (before[floor], after[floor])
      )
    }
    .sorted { ($0.factor, $0.new.workload) > ($1.factor, $1.new.workload) }
  }

  /// Whether a figure of ours became worse; peers and floors do not count.
  public var isWorse: Bool { changes.contains { $0.isWorse && Style.isOurs($0.new.contender) } }

  private static func change(
    _ old: Measurement,
    _ new: Measurement,
    floors: (old: Measurement?, new: Measurement?)
  ) -> Change? {
    guard hasSpread(old), hasSpread(new), !(old.min...old.max).contains(new.median),
      !(new.min...new.max).contains(old.median),
      let factor = factor(old, new), isGreat(factor)
    else { return nil }
    var floorFactor: Double?
    if let old = floors.old, let new = floors.new { floorFactor = self.factor(old, new) }
    if let floorFactor, !isGreat(factor / floorFactor) || (factor > 1) != (factor > floorFactor) {
      return nil
    }
    return Change(old: old, new: new, factor: factor, floorFactor: floorFactor)
  }

  private static func hasSpread(_ measurement: Measurement) -> Bool {
    measurement.runs >= 3 || measurement.metric == Metric.bytesPerRow.rawValue
  }

  /// The factor by which a figure became worse.
  private static func factor(_ old: Measurement, _ new: Measurement) -> Double? {
    guard old.median > 0, new.median > 0, let metric = Metric(rawValue: new.metric) else {
      return nil
    }
    return metric.growsWithSpeed ? old.median / new.median : new.median / old.median
  }

  private static func isGreat(_ factor: Double) -> Bool { abs(log(factor)) >= log(leastFactor) }

  private struct Key: Hashable {
    let group: String?
    let workload: String
    let contender: String
    let metric: String

    init(_ measurement: Measurement, _ hasGroups: Bool) {
      self.init(
        group: hasGroups ? measurement.group : nil,
        workload: measurement.workload,
        contender: measurement.contender,
        metric: measurement.metric
      )
    }

    private init(group: String?, workload: String, contender: String, metric: String) {
      self.group = group
      self.workload = workload
      self.contender = contender
      self.metric = metric
    }

    /// The floor's figure of the same rounds.
    var floor: Key {
      Key(group: group, workload: workload, contender: Contender.floor.rawValue, metric: metric)
    }
  }
}
