import RowFormat
import SchedulePoints

extension StoreConnection {
  /// Assigns places to the members of changed lists.
  ///
  /// A list is kept in order by a rank in each member's row. Ranks are sparse: members added last get ranks
  /// after all others, in the order of the list, and a moved member gets one between its neighbours'. Only
  /// if there is no room left the neighbours get new ranks too.
  ///
  /// - Parameters:
  ///   - changes: The changes of a save; members that only get another place are added to them.
  ///   - storedPlaces: Returns the stored members of a list, with their ranks.
  ///   - reserve: Returns ranks after every rank given out before.
  /// - Throws: An error of reading the places of other members.
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
        // Former ranks give the list its own order, once it is loaded.
        if !list.formerRanks.isEmpty { _ = state.relatedModels(property) }
        // Members that an undo restored get their former ranks.
        if list.isReordered || !list.ranksInFormerList.isEmpty {
          state.context?.noticeCommitsIfCounted(to: self)
          let current = state.relatedModels(property) ?? list
          if try assignment.placeMoved(in: current, of: owner, inverse, self, reserve) { continue }
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

  /// Reads the rows of members added from elsewhere, if they are not in memory or old: others may have given
  /// them the same owner, and a place.
  ///
  /// - Throws: An error of reading a row.
  private func readStoredMembers(among list: RelatedModels, of owner: _ModelState) throws {
    guard owner.flags.contains(.stored), let context = owner.context else { return }
    let states = list.added.elements.map { $0._$state }.filter { $0.flags.contains(.stored) }
    if !states.isEmpty { try context.readRows(of: states, in: self) }
  }
}

/// Assigns the ranks of one save.
struct RankAssignment {
  /// Members of which only the place has changed.
  private(set) var moved: [any PersistentModel] = []
  private let spacing: Int64

  /// The distance of neighbours in a save of few changes: room for twenty moves between them, each into the middle of
  /// the gap that the previous one left.
  static let widestSpacing: Int64 = 1 << 20

  init(_ changes: ChangeSet) {
    let count = changes.inserted.count + changes.updated.count
    // A save has 2^24 places of its own, and borrows more from later saves only if it has more models.
    spacing = max(1, Self.widestSpacing / Int64(max(count, 1)))
  }

  /// Gives members added last ranks after all others; those that the store already has keep theirs.
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

  /// Gives the members of a list ranks in its order, changing as few as possible.
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

  /// Gives only the moved and the added members of a list new ranks, each between those of its neighbours.
  ///
  /// - Returns: Whether it has; not if the list does not know which members were moved, or if they are many, or too close
  ///   together: then nothing is changed.
  /// - Throws: An error of reading the rows of neighbours.
  /// - Complexity: O(*m* log *m*) in the moved members, and a small O(*n*) for finding them in the list.
  mutating func placeMoved(
    in list: RelatedModels,
    of owner: any PersistentModel,
    _ inverse: ModelProperty,
    _ connection: StoreConnection,
    _ reserve: (Int) -> Range<Int64>
  ) throws -> Bool {
    let state = owner._$state
    guard state.flags.contains(.stored), let context = state.context,
      list.isCurrent(at: context.listEpoch), context.knowsAll(of: state), let moved = list.moved,
      list.formerRanks.isEmpty, list.ranksInFormerList.isEmpty
    else { return false }
    let changed = moved.union(list.added.elements.lazy.map { ObjectIdentifier($0) })
    guard changed.count * 4 < list.count else { return false }
    let indices = list.indices(of: changed)
    // Where there is no room left between two neighbours, some more of them get new ranks.
    for reach in [0, 32, 256] {
      let runs = Self.runs(of: indices, reach, in: list.count)
      guard runs.reduce(0, { $0 + $1.count }) * 2 < list.count else { return false }
      let known = runs.flatMap { ($0.lowerBound - 1)...$0.upperBound }.filter {
        0..<list.count ~= $0
      }
      try context.readRows(of: known.map { list.member(at: $0)._$state }, in: connection)
      var places: [(member: any PersistentModel, rank: Int64)] = []
      let haveRoom = runs.allSatisfy { run in
        guard let found = self.places(of: run, in: list, of: owner, inverse, reserve) else {
          return false
        }
        places += found
        return true
      }
      if haveRoom {
        for (member, rank) in places where !member._$state.isDeleted {
          set(rank, of: member, at: owner, inverse)
        }
        return true
      }
    }
    return false
  }

  /// The ranges of indices, each with some more on both sides; those that meet are one.
  private static func runs(of indices: [Int], _ reach: Int, in count: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for index in indices {
      let run = max(0, index - reach)..<min(count, index + 1 + reach)
      if let last = runs.last, last.upperBound >= run.lowerBound {
        runs[runs.count - 1] = last.lowerBound..<run.upperBound
      } else {
        runs.append(run)
      }
    }
    return runs
  }

  /// The members of a run that need other ranks than they have, between those of the run's neighbours.
  ///
  /// - Returns: `nil` if there is no room, or if a neighbour is not in its place in the store.
  private func places(
    of run: Range<Int>,
    in list: RelatedModels,
    of owner: any PersistentModel,
    _ inverse: ModelProperty,
    _ reserve: (Int) -> Range<Int64>
  ) -> [(member: any PersistentModel, rank: Int64)]? {
    func rank(at index: Int) -> Int64? {
      let state = list.member(at: index)._$state
      if state.isDeleted || !state.flags.contains(.stored) || state.isPending(at: owner, inverse) {
        return nil
      }
      return state.storedRank(inverse, at: owner._$state)
    }
    var ends: (low: Int64?, high: Int64?)
    if run.lowerBound > 0 {
      guard let low = rank(at: run.lowerBound - 1) else { return nil }
      ends.low = low
    }
    if run.upperBound < list.count {
      guard let high = rank(at: run.upperBound), ends.low.map({ $0 < high }) ?? true else {
        return nil
      }
      ends.high = high
    }
    let former = run.map { index in
      rank(at: index).flatMap { $0 > ends.low ?? .min && $0 < ends.high ?? .max ? $0 : nil }
    }
    let low = ends.low.map { [$0] } ?? []
    let high = ends.high.map { [$0] } ?? []
    let ranks = Ranks.keepingMost(of: low + former + high, spacing: spacing, reserve)
    guard ranks.starts(with: low), ranks.suffix(high.count) == high[...] else { return nil }
    let own = ranks.dropFirst(low.count).dropLast(high.count)
    return zip(run, zip(own, former)).compactMap { index, ranks in
      ranks.0 == ranks.1 ? nil : (list.member(at: index), ranks.0)
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
  /// Whether the model refers to an owner that the store does not have yet.
  fileprivate func isPending(at owner: any PersistentModel, _ inverse: ModelProperty) -> Bool {
    guard !isDeleted, flags.contains(.inserted) || changed.contains(inverse.ordinal),
      case .one(let current) = relation(inverse)
    else { return false }
    return current === owner
  }
}
