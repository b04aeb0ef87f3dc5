/// The lists that a context goes on holding after it saved them, so that appending to one again and again
/// does not load it each time.
///
/// A list keeps its members alive, and members may keep the owner; so only few lists are held, and each
/// for as long as its owner lives or until others have been changed since.
struct RecentLists {
  private struct Owner {
    unowned(unsafe) let state: _ModelState
    let memberCount: Int
  }

  /// The owners, the one saved last at the end.
  private var owners: [Owner] = []
  private var memberCount = 0

  /// How many owners, and how many members of all of them together, are held.
  private static let mostOwners = 16
  private static let mostMembers = 250_000

  /// Holds the lists of an owner, and lets go of those that have waited longest.
  mutating func keep(lists memberCount: Int, of state: _ModelState) {
    forget(state)
    state.flags.insert(.keepsLists)
    owners.append(Owner(state: state, memberCount: memberCount))
    self.memberCount += memberCount
    while owners.count > 1,
      owners.count > Self.mostOwners || self.memberCount > Self.mostMembers
    {
      let oldest = owners.removeFirst()
      self.memberCount -= oldest.memberCount
      oldest.state.flags.remove(.keepsLists)
      // Unsaved changes are not here: they are let go of by the save that writes them.
      if !oldest.state.flags.contains(.listed) { oldest.state.dropRelations() }
    }
  }

  /// Lets go of an owner that goes away, or whose lists are no longer what the store has.
  mutating func forget(_ state: _ModelState) {
    guard state.flags.contains(.keepsLists) else { return }
    state.flags.remove(.keepsLists)
    guard let index = owners.firstIndex(where: { $0.state === state }) else { return }
    memberCount -= owners[index].memberCount
    owners.remove(at: index)
  }
}
