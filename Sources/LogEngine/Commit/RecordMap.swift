import RowFormat

/// Values by the offset of a batch's records.
///
/// Records are written one behind the other: the offsets ascend, and are found by binary search.
struct RecordMap<Value> {
  private var places: [Int] = []
  private var values: [Value] = []

  /// The value of the record that starts at an offset; `nil` if it has none.
  subscript(place: Int) -> Value? {
    let index = places.partitionPoint { $0 < place }
    return index < places.count && places[index] == place ? values[index] : nil
  }

  mutating func append(_ value: Value, at place: Int) {
    assert(places.last ?? -1 < place, "a record at \(place) behind one at \(places.last ?? -1)")
    places.append(place)
    values.append(value)
  }

  mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }
}
