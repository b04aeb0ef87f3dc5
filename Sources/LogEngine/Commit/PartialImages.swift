import RowFormat

/// The columns that a batch changes in the rows it writes whole, by the offset of their records.
///
/// Records are written one behind the other: the offsets ascend, and are found by binary search.
struct PartialImages {
  private var places: [Int] = []
  private var columns: [ColumnSet] = []

  /// The columns changed in the row whose record starts at an offset; `nil` if all are, or no such record starts there.
  subscript(place: Int) -> ColumnSet? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low] == place ? columns[low] : nil
  }

  mutating func append(_ changed: ColumnSet, at place: Int) {
    assert(places.last ?? -1 < place, "a record at \(place) behind one at \(places.last ?? -1)")
    places.append(place)
    columns.append(changed)
  }

  mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    columns.removeAll(keepingCapacity: true)
  }
}
