import RowFormat

/// Ranks as numbers, independent of models.
enum Ranks {
  /// Ranks in strictly ascending order that keep as many former ones as possible.
  ///
  /// - Parameters:
  ///   - former: The ranks in the wanted order; `nil` for elements without one.
  ///   - spacing: The distance of new ranks, if there is room.
  ///   - reserve: Returns ranks after every rank given out before.
  /// - Returns: A rank for each.
  /// - Complexity: O(*n* log *n*).
  static func keepingMost(
    of former: [Int64?],
    spacing: Int64,
    _ reserve: (_ count: Int) -> Range<Int64>
  ) -> [Int64] {
    var kept = longestAscent(in: former)
    var ranks = former.map { $0 ?? 0 }
    var index = 0
    while index < former.count {
      if kept[index] {
        index += 1
        continue
      }
      var start = index
      var end = index
      while end < former.count, !kept[end] { end += 1 }
      // Between neighbours without enough room: these get new ranks too, and ever more of them. The fewer they are, the more
      // room is left between them for the next ones, which are often put into the same place.
      let least = end - start
      var width = least
      while start > 0, end < former.count {
        let (low, high) = (ranks[start - 1], ranks[end])
        let spread = width > least ? max(1, 64 * least / width) : 1
        if hasRoom(for: (end - start) * spread, between: low, and: high) { break }
        let reach = min(former.count, end + width)
        for place in end..<reach { kept[place] = false }
        end = reach
        while end < former.count, !kept[end] { end += 1 }
        let back = max(0, start - width)
        for place in back..<start { kept[place] = false }
        start = back
        while start > 0, !kept[start - 1] { start -= 1 }
        width *= 2
      }
      fill(&ranks, start..<end, spacing, reserve)
      for place in start..<end { kept[place] = true }
      index = end
    }
    return ranks
  }

  private static func hasRoom(for count: Int, between low: Int64, and high: Int64) -> Bool {
    let (distance, overflow) = high.subtractingReportingOverflow(low)
    return overflow || distance > Int64(count)
  }

  private static func fill(
    _ ranks: inout [Int64],
    _ range: Range<Int>,
    _ spacing: Int64,
    _ reserve: (Int) -> Range<Int64>
  ) {
    let count = Int64(range.count)
    var first: Int64
    var step = spacing
    if range.upperBound == ranks.count {
      first = reserve(range.count * Int(spacing)).lowerBound
    } else if range.lowerBound == 0 {
      // Ranks come from disk: no value of them may trap.
      first = ranks[range.upperBound] &- count &* step
    } else {
      let low = ranks[range.lowerBound - 1]
      let (distance, overflow) = ranks[range.upperBound].subtractingReportingOverflow(low)
      step = overflow ? spacing : distance / (count + 1)
      first = low &+ step
    }
    for index in range {
      ranks[index] = first
      first &+= step
    }
  }

  /// Returns the elements that belong to a longest strictly ascending subsequence of those that have a rank.
  private static func longestAscent(in ranks: [Int64?]) -> [Bool] {
    // For each length, the last element of the ascent of this length that ends lowest.
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: ranks.count)
    for (index, rank) in ranks.enumerated() {
      guard let rank else { continue }
      let length = tails.partitionPoint { ranks[$0].map { $0 < rank } ?? false }
      if length > 0 { previous[index] = tails[length - 1] }
      if length < tails.count { tails[length] = index } else { tails.append(index) }
    }
    var kept = [Bool](repeating: false, count: ranks.count)
    var next = tails.last ?? -1
    while next >= 0 {
      kept[next] = true
      next = previous[next]
    }
    return kept
  }
}
