import RowFormat

/// Which columns a batch changes in the rows that it writes whole, by where their records start.
///
/// Records are written one behind the other: the places ascend, and are looked up by halves.
struct PartialImages {
  private var places: [Int] = []
  private var columns: [ColumnSet] = []

  /// The columns changed in the row whose record starts at a place; `nil` if all are, or it is no such record.
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
