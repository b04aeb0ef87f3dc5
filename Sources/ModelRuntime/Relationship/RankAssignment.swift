import RowFormat

extension StoreConnection {
  /// Gives the members of changed lists their places.
  ///
  /// A list is kept in order by a rank in each member's row. Members that were appended get new ranks, in
  /// the order of the list; a list that was put in another order gets new ranks throughout, which
  /// changes all its members.
  func assignRanks(in changes: inout ChangeSet, next: () -> Int64) {
    for owner in [changes.inserted, changes.updated].joined() {
      let state = owner._$state
      for property in state.descriptor.relationships where property.isDerivable {
        guard let inverse = property.inverse, case .many(let list) = state.relation(property)
        else { continue }
        let everyMember = state.reordered.contains(property.ordinal)
        for member in everyMember ? list.models : list.added {
          let other = member._$state
          let isNew = other.flags.contains(.inserted) || other.changed.contains(inverse.ordinal)
          guard everyMember || isNew else { continue }
          other.pendingRanks = other.pendingRanks ?? [:]
          other.pendingRanks?[inverse.ordinal] = next()
          if isNew { continue }
          other.setRelation(.one(owner), inverse)
          other.changed.insert(inverse.ordinal)
          if !other.flags.contains(.listed) {
            other.context?.noteChange(of: other, property: nil)
            changes.updated.append(member)
          }
        }
      }
    }
  }
}
