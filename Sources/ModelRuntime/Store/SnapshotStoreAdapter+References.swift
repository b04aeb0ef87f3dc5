import RowFormat

extension SnapshotStoreAdapter {
  /// Checks that models to which relationships were set are still stored: a store of snapshots takes references as they
  /// come.
  ///
  /// Reads the models that were stored before, class by class; nothing if no such relationship was set.
  ///
  /// - Throws: ``DanglingModels`` if one has been deleted by a batch, or by another context; otherwise an error of reading.
  func checkReferences(of changes: ChangeSet, for state: EditingState) throws {
    let links = (changes.inserted + changes.updated).flatMap { $0.setLinks }
    if links.isEmpty { return }
    let targets = Array(Set(links.lazy.map(\.target)))
    let found = Set(try rows(at: targets, for: state).lazy.compactMap { $0?.reference })
    let dangling = links.filter { !found.contains($0.target) }
    if !dangling.isEmpty { throw DanglingModels(links: dangling) }
  }
}

extension PersistentModel {
  /// The links to stored models that a save would write anew, of to-one relationships with an inverse.
  fileprivate var setLinks: [DanglingModels.Link] {
    let state = _$state
    return state.descriptor.relationships.compactMap { property in
      guard case .toOne = property.kind, property.inverse != nil,
        state.changed.contains(property.ordinal),
        case .one(let other?) = state.relation(property), other._$state.flags.contains(.stored)
      else { return nil }
      let target = other._$state.reference
      if state.storedReference(property) == target { return nil }
      return DanglingModels.Link(model: self, property: property, target: target)
    }
  }
}
