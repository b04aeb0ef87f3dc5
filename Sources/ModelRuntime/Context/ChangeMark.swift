/// Whether a property counted as changed before a change that may be undone.
struct ChangeMark {
  private let ordinal: Int
  private let wasClean: Bool
  private let descriptor: ModelDescriptor
  private let saveCount: Int
  /// The context's list epoch at that time.
  private let epoch: UInt32

  init(_ ordinal: Int, of state: _ModelState, in context: ModelContext) {
    self.ordinal = ordinal
    wasClean = !state.changed.contains(ordinal)
    descriptor = state.descriptor
    saveCount = context.saveCount(of: descriptor)
    epoch = context.listEpoch
  }

  /// Forgets the change, if no trace of it is left.
  ///
  /// The property then has the store's value, no longer the one here: others may have saved it since.
  func restore(_ state: _ModelState, in context: ModelContext) {
    guard isCurrent(in: context) else { return }
    state.forgetChange(ordinal)
    state.readAgain(ordinal, in: context)
  }

  /// Whether undoing the change leaves the property as it is in the store.
  func isCurrent(in context: ModelContext) -> Bool {
    wasClean && isUnsaved(in: context)
  }

  /// Whether the change was not saved meanwhile.
  func isUnsaved(in context: ModelContext) -> Bool {
    saveCount == context.saveCount(of: descriptor)
  }

  /// Whether at most `saveCount` saves preceded the change.
  func wasMade(upTo saveCount: Int) -> Bool { self.saveCount <= saveCount }

  /// Whether the store may have changed meanwhile: the change was made to lists that have been replaced.
  func isOutdated(in context: ModelContext) -> Bool { epoch != context.listEpoch }
}

extension _ModelState {
  /// Makes a property that is unchanged again read its value from the row.
  fileprivate func readAgain(_ ordinal: Int, in context: ModelContext) {
    guard flags.contains(.stored), let model else { return }
    let property = descriptor.properties[ordinal]
    if property.isRelationship {
      // Lists are put together from stored rows anyway.
      if !property.isToMany { setRelation(.unloaded, property) }
    } else if isDeleted {
      return
    } else if unsafe row != nil {
      var others = OrdinalSet(upTo: descriptor.properties.count)
      others.remove(ordinal)
      model._$reset(keeping: others)
    } else if context.inbox != nil || flags.contains(.hasMergedValues) {
      // A merge, a save or a batch has dropped the row: the object takes over everything that was saved since.
      model._$reset(keeping: changed)
      if changed.isEmpty { flags.remove(.hasSavedValues) }
    }
  }
}
