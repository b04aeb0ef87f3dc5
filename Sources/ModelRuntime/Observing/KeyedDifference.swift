import RowFormat

/// The elements removed from and inserted into a list on its way to another, by their identifiers.
///
/// No list has an identifier twice, so the elements that stay form a longest ascending run of positions, and
/// O(*n* log *n*) finds the smallest difference.
struct KeyedDifference<ID: Hashable> {
  private(set) var removals: [(offset: Int, id: ID)] = []
  private(set) var insertions: [(offset: Int, id: ID)] = []

  var isEmpty: Bool { removals.isEmpty && insertions.isEmpty }

  /// Adds the difference of two stretches; several stretches must be added in ascending order.
  ///
  /// - Parameters:
  ///   - old: The identifiers of the stretch in the former list.
  ///   - oldStart: The offset of the stretch in the former list.
  ///   - new: The identifiers of the stretch in the list.
  ///   - newStart: The offset of the stretch in the list.
  mutating func add(_ old: [ID], at oldStart: Int, _ new: [ID], at newStart: Int) {
    var (oldRange, newRange) = (old.indices, new.indices)
    while let first = oldRange.first, let other = newRange.first, old[first] == new[other] {
      oldRange.removeFirst()
      newRange.removeFirst()
    }
    while let last = oldRange.last, let other = newRange.last, old[last] == new[other] {
      oldRange.removeLast()
      newRange.removeLast()
    }
    let kept = Self.kept(old[oldRange], new[newRange])
    var keptOld = kept.old[...]
    for index in oldRange {
      if keptOld.first == index {
        keptOld.removeFirst()
      } else {
        removals.append((oldStart + index, old[index]))
      }
    }
    var keptNew = kept.new[...]
    for index in newRange {
      if keptNew.first == index {
        keptNew.removeFirst()
      } else {
        insertions.append((newStart + index, new[index]))
      }
    }
  }

  /// The positions of a largest set of elements that keep their relative order.
  private static func kept(
    _ old: ArraySlice<ID>,
    _ new: ArraySlice<ID>
  ) -> (old: [Int], new: [Int]) {
    if old.isEmpty || new.isEmpty { return ([], []) }
    var newPositions: [ID: Int] = [:]
    newPositions.reserveCapacity(new.count)
    for (index, id) in zip(new.indices, new) { newPositions[id] = index }
    var common: [(old: Int, new: Int)] = []
    for (index, id) in zip(old.indices, old) {
      if let position = newPositions[id] { common.append((index, position)) }
    }
    let ascent = longestAscent(in: common.map(\.new))
    return (ascent.map { common[$0].old }, ascent.map { common[$0].new })
  }

  /// Returns the difference in the form of collections; a moved element is associated with itself.
  ///
  /// - Parameters:
  ///   - old: The former list.
  ///   - new: The list.
  /// - Returns: The difference.
  /// - Complexity: O(*k*) for *k* removals and insertions, and as many accesses to the lists.
  func changes<List: Collection>(
    from old: List,
    to new: List
  ) -> CollectionDifference<List.Element> where List.Index == Int {
    var changes: [CollectionDifference<List.Element>.Change] = []
    changes.reserveCapacity(removals.count + insertions.count)
    var targets: [ID: Int] = [:]
    var origins: [ID: Int] = [:]
    if !removals.isEmpty, !insertions.isEmpty {
      for (offset, id) in insertions { targets[id] = offset }
      for (offset, id) in removals where targets[id] != nil { origins[id] = offset }
    }
    for (offset, id) in removals {
      changes.append(.remove(offset: offset, element: old[offset], associatedWith: targets[id]))
    }
    for (offset, id) in insertions {
      changes.append(.insert(offset: offset, element: new[offset], associatedWith: origins[id]))
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("\(removals.count) removals and \(insertions.count) insertions clash")
    }
    return difference
  }
}

/// The positions of a longest ascending subsequence of distinct numbers.
///
/// - Complexity: O(*n* log *n*).
func longestAscent(in numbers: [Int]) -> [Int] {
  /// By length, less one: the position of the smallest last number of a subsequence of that length.
  var ends: [Int] = []
  /// By position: the preceding position in the longest subsequence that ends there.
  var former: [Int] = []
  former.reserveCapacity(numbers.count)
  for (position, number) in numbers.enumerated() {
    let isLongest = ends.last.map { numbers[$0] < number } ?? true
    let length = isLongest ? ends.count : ends.partitionPoint { numbers[$0] < number }
    former.append(length == 0 ? -1 : ends[length - 1])
    if length == ends.count { ends.append(position) } else { ends[length] = position }
  }
  var positions: [Int] = []
  positions.reserveCapacity(ends.count)
  var next = ends.last ?? -1
  while next >= 0 {
    positions.append(next)
    next = former[next]
  }
  return positions.reversed()
}
