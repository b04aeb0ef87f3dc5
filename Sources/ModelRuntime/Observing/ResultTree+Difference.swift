// Two versions of a list share the nodes that neither changed. So differences are found without visiting the rest.

extension ResultTree {
  /// Calls a closure with the stretches in which two lists may differ, in order.
  ///
  /// Outside of them the lists have the same nodes in the same order.
  ///
  /// - Parameters:
  ///   - former: The other list.
  ///   - body: Receives a stretch of the other list, its offset, the stretch of this one, and its offset.
  /// - Complexity: O(*k* log *n*) for lists that are *k* changes apart; O(*n*) for lists that share nothing.
  func forEachGap(
    since former: ResultTree,
    _ body: (_ old: [Element], _ oldStart: Int, _ new: [Element], _ newStart: Int) -> Void
  ) {
    if isSame(as: former) { return }
    var (old, new) = ([former.root], [root])
    // A node has one height in all versions.
    for _ in 0..<Swift.max(former.root.height - root.height, 0) { old = old.flatMap(\.children) }
    for _ in 0..<Swift.max(root.height - former.root.height, 0) { new = new.flatMap(\.children) }
    Self.compare(old[...], 0, new[...], 0, body)
  }

  private static func compare(
    _ old: ArraySlice<Node>,
    _ oldStart: Int,
    _ new: ArraySlice<Node>,
    _ newStart: Int,
    _ body: ([Element], Int, [Element], Int) -> Void
  ) {
    var (oldOffset, newOffset) = (oldStart, newStart)
    var (oldIndex, newIndex) = (old.startIndex, new.startIndex)
    for (oldEnd, newEnd) in shared(old, new) + [(old.endIndex, new.endIndex)] {
      let (oldRun, newRun) = (old[oldIndex..<oldEnd], new[newIndex..<newEnd])
      descend(oldRun, oldOffset, newRun, newOffset, body)
      oldOffset += oldRun.reduce(0) { $0 + $1.count }
      newOffset += newRun.reduce(0) { $0 + $1.count }
      guard oldEnd < old.endIndex else { return }
      oldOffset += old[oldEnd].count
      newOffset += old[oldEnd].count
      (oldIndex, newIndex) = (oldEnd + 1, newEnd + 1)
    }
  }

  private static func descend(
    _ old: ArraySlice<Node>,
    _ oldStart: Int,
    _ new: ArraySlice<Node>,
    _ newStart: Int,
    _ body: ([Element], Int, [Element], Int) -> Void
  ) {
    guard let some = old.first ?? new.first else { return }
    // Mostly one node was changed; its parts need no new array.
    let isOne = old.count == 1 && new.count == 1
    if some.isLeaf {
      let oldEntries = isOne ? old[old.startIndex].entries : old.flatMap(\.entries)
      let newEntries = isOne ? new[new.startIndex].entries : new.flatMap(\.entries)
      body(oldEntries, oldStart, newEntries, newStart)
    } else {
      let oldChildren = isOne ? old[old.startIndex].children : old.flatMap(\.children)
      let newChildren = isOne ? new[new.startIndex].children : new.flatMap(\.children)
      compare(oldChildren[...], oldStart, newChildren[...], newStart, body)
    }
  }

  /// The positions of nodes that are in both lists, ascending in both.
  private static func shared(_ old: ArraySlice<Node>, _ new: ArraySlice<Node>) -> [(Int, Int)] {
    var pairs: [(Int, Int)] = []
    // Mostly no nodes were split or joined: then each keeps its position.
    if old.count == new.count {
      for (oldIndex, newIndex) in zip(old.indices, new.indices)
      where old[oldIndex] === new[newIndex] {
        pairs.append((oldIndex, newIndex))
      }
      if old.count - pairs.count <= 4 { return pairs }
      pairs = []
    }
    var (first, oldEnd, newEnd) = (0, old.count, new.count)
    while first < Swift.min(oldEnd, newEnd),
      old[old.startIndex + first] === new[new.startIndex + first]
    {
      pairs.append((old.startIndex + first, new.startIndex + first))
      first += 1
    }
    var tail: [(Int, Int)] = []
    while first < Swift.min(oldEnd, newEnd),
      old[old.startIndex + oldEnd - 1] === new[new.startIndex + newEnd - 1]
    {
      (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      tail.append((old.startIndex + oldEnd, new.startIndex + newEnd))
    }
    if first < Swift.min(oldEnd, newEnd) {
      var places: [ObjectIdentifier: Int] = [:]
      places.reserveCapacity(oldEnd - first)
      for index in first..<oldEnd {
        places[ObjectIdentifier(old[old.startIndex + index])] = index
      }
      var last = -1
      for index in first..<newEnd {
        let node = new[new.startIndex + index]
        guard let place = places[ObjectIdentifier(node)], place > last else { continue }
        pairs.append((old.startIndex + place, new.startIndex + index))
        last = place
      }
    }
    return pairs + tail.reversed()
  }
}

extension ResultTree where Element == RankedResult {
  /// The models added, removed or moved between two lists.
  ///
  /// It is the smallest difference within each stretch of nodes that are not shared.
  ///
  /// - Complexity: O(*k* log *n*) for lists that are *k* changes apart; O(*n* log *n*) for lists that share nothing.
  func difference(from former: ResultTree) -> KeyedDifference<ObjectIdentifier> {
    var difference = KeyedDifference<ObjectIdentifier>()
    forEachGap(since: former) { old, oldStart, new, newStart in
      var (start, oldEnd, newEnd) = (0, old.count, new.count)
      while start < Swift.min(oldEnd, newEnd), old[start].id == new[start].id { start += 1 }
      while start < Swift.min(oldEnd, newEnd), old[oldEnd - 1].id == new[newEnd - 1].id {
        (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      }
      difference.add(
        old[start..<oldEnd].map(\.id),
        at: oldStart + start,
        new[start..<newEnd].map(\.id),
        at: newStart + start
      )
    }
    return difference
  }
}
