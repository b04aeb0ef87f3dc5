/// Counts of durations from a nanosecond to centuries, each known to one part in 1,024.
///
/// Gil Tene's HdrHistogram (hdrhistogram.org): slots of one nanosecond up to 2,047, then 1,024 slots for
/// each doubling. To count a duration is to find its highest bit and to add one, so a million of them
/// take no more memory than a few, and histograms of many rounds add up to that of all.
public struct LatencyHistogram: Sendable, Equatable {
  /// By how much a percentile may exceed the duration that was counted, as a share of it.
  public static let relativeError = 1.0 / 1024

  /// Number of durations that were counted.
  public private(set) var count = 0
  /// The longest duration; exact.
  public private(set) var maximum: UInt64 = 0
  /// Counts by slot, up to the last that is not zero.
  private var counts: [Int] = []

  public init() {}

  public init(_ durations: some Sequence<UInt64>) {
    for duration in durations { record(duration) }
  }

  /// Counts a duration.
  ///
  /// - Parameter nanoseconds: The duration.
  /// - Complexity: O(1), but for the first time a longer duration comes than all before.
  public mutating func record(_ nanoseconds: UInt64) {
    let slot = Self.slot(of: nanoseconds)
    reach(slot)
    counts[slot] += 1
    count += 1
    maximum = max(maximum, nanoseconds)
  }

  /// Adds the counts of another histogram.
  public mutating func merge(_ other: LatencyHistogram) {
    reach(other.counts.count - 1)
    for (slot, number) in other.counts.enumerated() { counts[slot] += number }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// The duration that a share of all does not exceed.
  ///
  /// - Parameter share: The share, 0 ... 1: 0.99 for the 99th percentile.
  /// - Returns: The end of the slot it falls into, in nanoseconds, and never more than ``maximum``;
  ///   0 if nothing was counted.
  public func percentile(_ share: Double) -> UInt64 {
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (slot, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return min(maximum, Self.durations(in: slot).upperBound) }
    }
    return maximum
  }

  private mutating func reach(_ slot: Int) {
    guard slot >= counts.count else { return }
    counts += repeatElement(0, count: slot + 1 - counts.count)
  }
}

extension LatencyHistogram {
  private static let slotBits = 10

  /// The slot a duration is counted in.
  static func slot(of nanoseconds: UInt64) -> Int {
    let bits = UInt64.bitWidth - nanoseconds.leadingZeroBitCount
    let doublings = max(0, bits - slotBits - 1)
    return doublings << slotBits + Int(nanoseconds >> UInt64(doublings))
  }

  /// The durations that are counted in a slot.
  static func durations(in slot: Int) -> ClosedRange<UInt64> {
    let doublings = max(0, slot >> slotBits - 1)
    let first = UInt64(slot - doublings << slotBits) << UInt64(doublings)
    return first...first + (1 << UInt64(doublings) - 1)
  }
}
