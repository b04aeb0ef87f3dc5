import RowFormat

/// The lists that a context still holds after it has saved them or found them in a row, so that repeated use
/// does not load them each time.
///
/// A list keeps its members alive, and members may keep the owner; so only few lists are held, and each
/// for as long as its owner lives or until others have been used since.
struct RecentLists {
  private struct Owner {
    // Not counted: the lists must not keep their owner, which calls `forget(_:)` when it is freed.
    @safe unowned(unsafe) let state: _ModelState
    var memberCount: Int
  }

  /// The owners, the last used one at the end; those that left in between are `nil`.
  private var owners: [Owner?] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private var first = 0
  /// Number of members of all lists that are held.
  private(set) var memberCount = 0

  /// The rows of the owners that were evicted lately: another object may have an owner's address by now.
  private var evictedRows: Set<RowReference> = []
  /// Maximum number of members of all owners together that are held: more, once the app uses more of them in turn.
  private var mostMembers = 250_000

  /// Maximum number of owners that are held.
  private static let mostOwners = 1024
  /// The maximum of ``mostMembers``.
  private static let mostMembersEver = 1_000_000
  /// Maximum number of entries that may stay, whoever has left.
  private static let fewEntries = 64

  /// Number of entries in memory, including those of owners that left.
  var entryCount: Int { owners.count }

  /// Holds the lists of an owner, if they have members.
  ///
  /// - Parameters:
  ///   - memberCount: The number of members of all its lists in memory.
  ///   - state: The owner.
  /// - Returns: The least recently used owners, whose lists are to be released now.
  mutating func keep(lists memberCount: Int, of state: _ModelState) -> [any PersistentModel] {
    forget(state)
    if evictedRows.remove(state.reference) != nil {
      // It was loaded again: evicting it once more would only cost the next load.
      mostMembers = min(mostMembers + memberCount, Self.mostMembersEver)
    }
    // An empty list keeps nothing alive, and must not take the place of one that does.
    if memberCount == 0 { return [] }
    state.flags.insert(.keepsLists)
    places[ObjectIdentifier(state)] = owners.count
    owners.append(Owner(state: state, memberCount: memberCount))
    self.memberCount += memberCount
    var evicted: [any PersistentModel] = []
    while places.count > 1,
      places.count > Self.mostOwners || self.memberCount > mostMembers
    {
      guard let oldest = removeOldest() else { break }
      if evictedRows.count == Self.mostOwners { evictedRows = [] }
      if oldest.reference != .none { evictedRows.insert(oldest.reference) }
      if let model = oldest.model { evicted.append(model) }
    }
    // An owner that is kept again leaves an entry behind, whether or not others have to go.
    if entryCount > Self.fewEntries, entryCount > 2 * places.count { compact() }
    return evicted
  }

  /// Releases an owner that is freed, or whose lists no longer match the store.
  mutating func forget(_ state: _ModelState) {
    guard state.flags.contains(.keepsLists) else { return }
    state.flags.remove(.keepsLists)
    guard let place = places.removeValue(forKey: ObjectIdentifier(state)) else { return }
    memberCount -= owners[place]?.memberCount ?? 0
    owners[place] = nil
  }

  private mutating func removeOldest() -> _ModelState? {
    while first < owners.count, owners[first] == nil { first += 1 }
    guard first < owners.count, let oldest = owners[first] else { return nil }
    var state = oldest.state
    // A list that is as large as all that may be held is worth more than the small ones that are used beside it.
    if oldest.memberCount > mostMembers / 2,
      let next = owners[(first + 1)...].first(where: { $0 != nil }), let next
    {
      state = next.state
    }
    forget(state)
    return state
  }

  private mutating func compact() {
    owners = owners[first...].filter { $0 != nil }
    first = 0
    for (place, owner) in owners.enumerated() {
      if let owner { places[ObjectIdentifier(owner.state)] = place }
    }
  }
}

extension ModelContext {
  /// Holds the lists of an owner, which have some members, for a while.
  func keepLists(_ memberCount: Int, of state: _ModelState) {
    // Releasing lists frees models, which remove themselves from the recent lists: that comes afterwards.
    let evicted = recentLists.keep(lists: memberCount, of: state)
    for model in evicted { model._$state.dropUnchangedLists() }
  }
}

extension _ModelState {
  /// Number of members of the lists in memory.
  var listedMemberCount: Int {
    relations.reduce(0) { count, relation in
      guard case .many(let list) = relation, list.isLoaded else { return count }
      return count + list.keptCount
    }
  }

  /// Releases the lists that match the store.
  func dropUnchangedLists() {
    for property in descriptor.relationships where property.isToMany {
      guard case .many(let list) = relation(property) else { continue }
      if list.hasOverlay { list.unloadUnlessReordered() } else { setRelation(.unloaded, property) }
    }
  }
}

extension RelatedModels {
  fileprivate final func unloadUnlessReordered() {
    if !isReordered { unload() }
  }
}
