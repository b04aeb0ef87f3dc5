/// The deletes of a context, in which lists look for their members that do not lead to one owner: nobody else tells them.
struct RecentDeletions {
  /// Number of deletes and cancelled deletes.
  private(set) var count = 0
  /// The models of the last deletes, none of which was cancelled since.
  ///
  /// Not the models themselves, which may be gone by now: a list knows its own members by their identities.
  private var models: [ObjectIdentifier] = []

  /// Maximum number of models that are remembered.
  private static let mostModels = 4096

  /// Records a delete.
  mutating func record(_ model: any PersistentModel) {
    count &+= 1
    if models.count == Self.mostModels { models.removeFirst(Self.mostModels / 2) }
    models.append(ObjectIdentifier(model))
  }

  /// Records that a deleted model is no longer deleted: lists are put together again to show it.
  mutating func recordReturn() {
    count &+= 1
    models.removeAll()
  }

  /// The models deleted since there were a number of deletes; `nil` if they are no longer known.
  ///
  /// Others may have taken the place of some of them in memory.
  func models(since former: Int) -> ArraySlice<ObjectIdentifier>? {
    let missed = count &- former
    return 0...models.count ~= missed ? models.suffix(missed) : nil
  }
}

extension _ModelState {
  /// Whether a list is free of deleted members, and has those that are no longer deleted: the members themselves lead here, or
  /// nothing was deleted since, and no delete cancelled.
  func knowsDeletions(_ list: RelatedModels, _ property: ModelProperty) -> Bool {
    guard !property.isDerivable, let context else { return true }
    return list.deletionCount == context.deletions.count
  }

  /// Takes members that were deleted since out of a list in memory.
  ///
  /// - Returns: Whether that was possible; otherwise the list must be put together again.
  /// - Complexity: O(1) for each model that was deleted since, member or not.
  func learnsDeletions(_ list: RelatedModels, _ property: ModelProperty) -> Bool {
    if knowsDeletions(list, property) { return true }
    guard let context, let deleted = context.deletions.models(since: list.deletionCount) else {
      return false
    }
    for model in deleted { list.removeIfGone(model) }
    list.deletionCount = context.deletions.count
    return true
  }
}
