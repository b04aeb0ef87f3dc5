/// The few trips that start first among many: a heap with the latest of the few on top.
///
/// For contenders that keep bytes and leave sorting to their readers.
public struct EarliestTrips {
  private var heap: [(start: Double, key: UInt64)] = []
  private let count: Int

  /// Creates a list.
  ///
  /// - Parameter count: The number of trips it keeps; one at least.
  public init(_ count: Int) {
    self.count = count
    heap.reserveCapacity(count)
  }

  /// The keys of the trips kept.
  public var keys: [UInt64] { heap.map(\.key) }

  /// Takes a trip in if it starts before one of those kept.
  ///
  /// - Complexity: O(1) for nearly all of many trips, O(log *count*) for the others.
  @inline(__always)
  public mutating func offer(_ key: UInt64, start: Double) {
    if heap.count == count {
      guard start < heap[0].start else { return }
      heap[0] = (start, key)
      sink()
    } else {
      heap.append((start, key))
      rise()
    }
  }

  private mutating func rise() {
    var child = heap.count - 1
    while child > 0, heap[child].start > heap[(child - 1) / 2].start {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func sink() {
    var parent = 0
    while true {
      let children = (2 * parent + 1..<2 * parent + 3).clamped(to: 0..<heap.count)
      guard let latest = children.max(by: { heap[$0].start < heap[$1].start }),
        heap[latest].start > heap[parent].start
      else { return }
      heap.swapAt(parent, latest)
      parent = latest
    }
  }
}
