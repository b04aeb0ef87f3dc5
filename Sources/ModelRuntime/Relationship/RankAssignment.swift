import RowFormat
import SchedulePoints

extension StoreConnection {
  /// Gives the members of changed lists their places.
  ///
  /// A list is kept in order by a rank in each member's row. Ranks are sparse: members that came last get ranks
  /// behind all others, in the order of the list, and a member that was moved gets one between its neighbours'. Only
  /// where there is no room left the neighbours get new ranks too.
  ///
  /// - Parameters:
  ///   - changes: The changes of a save; members that only get another place are added to them.
  ///   - storedPlaces: Returns the stored members of a list, with their ranks.
  ///   - reserve: Returns ranks behind every rank given out before.
  /// - Throws: What reading the places of other members throws.
  func assignRanks(
    in changes: inout ChangeSet,
    placesOf storedPlaces: (_ModelState, ModelProperty) throws -> [ReferringRow],
    reserve: (_ count: Int) -> Range<Int64>
  ) throws {
    if PlantedFault.unrankedMembers.isPlanted { return }
    var assignment = RankAssignment(changes)
    for owner in [changes.inserted, changes.updated].joined() {
      let state = owner._$state
      for property in state.descriptor.relationships where property.isDerivable {
        guard let inverse = property.inverse, case .many(let list) = state.relation(property),
          !list.added.isEmpty || list.isReordered
        else { continue }
        // Former ranks make the list one with an order of its own, once it is put together.
        if !list.formerRanks.isEmpty { _ = state.relatedModels(property) }
        // Members that an undo brought back get the ranks that they had.
        if list.isReordered || !list.ranksInFormerList.isEmpty {
          let current = state.relatedModels(property) ?? list
          let ranks =
            state.flags.contains(.stored) ? try storedPlaces(state, property) : []
          assignment.place(current, of: owner, inverse, among: ranks, reserve)
        } else {
          try readStoredMembers(among: list, of: state)
          assignment.append(list, to: owner, inverse, reserve)
        }
      }
    }
    changes.updated += assignment.moved
  }

  /// Reads the rows of members that came from elsewhere, if they are not in memory or old: others may have given
  /// them the same owner, and a place.
  ///
  /// - Throws: What reading a row throws.
  private func readStoredMembers(among list: RelatedModels, of owner: _ModelState) throws {
    guard owner.flags.contains(.stored), let context = owner.context else { return }
    let states = list.added.elements.map { $0._$state }.filter { $0.flags.contains(.stored) }
    if !states.isEmpty { try context.readRows(of: states, in: self) }
  }
}

/// Hands out the ranks of one save.
struct RankAssignment {
  /// Members of which nothing has changed but their place.
  private(set) var moved: [any PersistentModel] = []
  private let spacing: Int64

  /// The distance of neighbours in a save of few changes: room for twenty moves between them, one into the middle of
  /// what the one before has left.
  static let widestSpacing: Int64 = 1 << 20

  init(_ changes: ChangeSet) {
    let count = changes.inserted.count + changes.updated.count
    // A save has 2^24 places of its own, and borrows more from later ones only if it has more models.
    spacing = max(1, Self.widestSpacing / Int64(max(count, 1)))
  }

  /// Gives members that came last ranks behind all others; those that the store has already keep theirs.
  mutating func append(
    _ list: RelatedModels,
    to owner: any PersistentModel,
    _ inverse: ModelProperty,
    _ reserve: (Int) -> Range<Int64>
  ) {
    let newcomers = list.added.elements.filter { member in
      let state = member._$state
      guard state.isPending(at: owner, inverse) else { return false }
      guard !list.returned.contains(ObjectIdentifier(member)),
        owner._$state.flags.contains(.stored),
        state.storedReference(inverse) == owner._$state.reference
      else { return true }
      state.pendingRanks[inverse.ordinal] = nil
      return false
    }
    var rank = reserve(newcomers.count * Int(spacing)).lowerBound
    for member in newcomers {
      set(rank, of: member, at: owner, inverse)
      rank += spacing
    }
  }

  /// Gives the members of a list ranks in its order, to as few of them as possible.
  mutating func place(
    _ list: RelatedModels,
    of owner: any PersistentModel,
    _ inverse: ModelProperty,
    among stored: [ReferringRow],
    _ reserve: (Int) -> Range<Int64>
  ) {
    let known = Dictionary(
      stored.lazy.map { ($0.reference, $0.rank) },
      uniquingKeysWith: { first, _ in first }
    )
    // A member that was moved to another list meanwhile stays there.
    let members = list.models.filter { member in
      let state = member._$state
      return !state.isDeleted
        && (state.isPending(at: owner, inverse) || known[state.reference] != nil)
    }
    let isNew = members.map { member in
      let state = member._$state
      return !state.flags.contains(.stored) || state.isPending(at: owner, inverse)
    }
    let former: [Int64?] = zip(members, isNew).map { member, isNew in
      isNew ? list.ranksInFormerList[ObjectIdentifier(member)] : known[member._$state.reference]
    }
    let ranks = Ranks.keepingMost(of: former, spacing: spacing, reserve)
    for (index, member) in members.enumerated() where isNew[index] || former[index] != ranks[index]
    {
      set(ranks[index], of: member, at: owner, inverse)
    }
  }

  private mutating func set(
    _ rank: Int64,
    of member: any PersistentModel,
    at owner: any PersistentModel,
    _ inverse: ModelProperty
  ) {
    let state = member._$state
    state.setPendingRank(rank, inverse.ordinal)
    if state.flags.contains(.inserted) || state.changed.contains(inverse.ordinal) { return }
    state.setRelation(.one(owner), inverse)
    state.changed.insert(inverse.ordinal)
    if !state.flags.contains(.listed) {
      state.context?.recordChange(of: state, property: nil)
      moved.append(member)
    }
  }
}

extension _ModelState {
  /// Whether the model refers to an owner, and the store does not know it yet.
  fileprivate func isPending(at owner: any PersistentModel, _ inverse: ModelProperty) -> Bool {
    guard !isDeleted, flags.contains(.inserted) || changed.contains(inverse.ordinal),
      case .one(let current) = relation(inverse)
    else { return false }
    return current === owner
  }
}

/// Ranks as numbers, apart from models.
enum Ranks {
  /// Ranks in strictly ascending order that keep as many former ones as possible.
  ///
  /// - Parameters:
  ///   - former: The ranks in the order wanted; `nil` for what has none.
  ///   - spacing: The distance of new ranks, where there is room.
  ///   - reserve: Returns ranks behind every rank given out before.
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
      // Between neighbours without enough room: these get new ranks too, and ever more of them.
      var width = end - start
      while start > 0, end < former.count,
        !hasRoom(for: end - start, between: ranks[start - 1], and: ranks[end])
      {
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
      // Ranks come from disk: whatever they are, they are no reason to stop.
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

  /// Which elements belong to a longest strictly ascending subsequence of those that have a rank.
  private static func longestAscent(in ranks: [Int64?]) -> [Bool] {
    // For each length, the last element of the ascent of this length that ends lowest.
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: ranks.count)
    for (index, rank) in ranks.enumerated() {
      guard let rank else { continue }
      var low = 0
      var high = tails.count
      while low < high {
        let middle = (low + high) / 2
        if let tail = ranks[tails[middle]], tail < rank { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = tails[low - 1] }
      if low < tails.count { tails[low] = index } else { tails.append(index) }
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
