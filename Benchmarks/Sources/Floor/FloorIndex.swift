/// The least an index can do: a flat array of locations.
public final class FloorIndex {
  private let locations: UnsafeMutableBufferPointer<UInt64>

  /// Fills the array, so that each page of it is there.
  public init(count: Int) {
    locations = .allocate(capacity: count + 1)
    for key in locations.indices { locations[key] = UInt64(key) &* 200 }
  }

  deinit { locations.deallocate() }

  /// Whether there is an entry under a key.
  public func contains(_ key: UInt64) -> Bool { locations[Int(key)] != 0 }
}
