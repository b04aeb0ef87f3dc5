import CModelRuntime

// The relationships that an initializer sets are in slots of the object, which has no state yet. They are taken over
// when the object is inserted, or related otherwise. Setting an end moves the other one, whose object must have taken
// over its own before: objects that initializers have linked into a chain are taken over one within the other.

/// Taking over relationships that initializers set.
private enum InitialRelationships {
  /// Depth of recursion from which on a chain is walked instead: a long one would overflow the stack.
  static let deepest: UInt = 8

  /// Whether this thread walks a chain: then relationships count as taken over before their turn comes.
  static var areWalked: Bool { CModelRuntime_adoptionDepth() >= deepest }
}

extension _ModelState {
  /// Takes over the relationships that an initializer set, before the object had a state.
  func adoptInitialRelationships(of model: some PersistentModel) {
    if flags.contains(.adopted) { return }
    let depth = CModelRuntime_adoptionDepth()
    if depth >= InitialRelationships.deepest { return adoptChain(endingWith: model) }
    CModelRuntime_setAdoptionDepth(depth + 1)
    flags.insert(.adopted)
    // The state may not know its model yet, and is asked for relationships next.
    _ = descriptor(of: model)
    model._$adopt()
    CModelRuntime_setAdoptionDepth(depth)
  }

  /// Whether a model may already be at this end of a relationship, although only the other end is being set.
  func mayKnowOther(_ property: ModelProperty) -> Bool {
    !flags.contains(.adopted) || !property.isDerivable || InitialRelationships.areWalked
  }

  /// The same for a model, after all others that its relationships lead to: theirs leave nothing to be done when its
  /// own move their ends.
  private func adoptChain(endingWith model: any PersistentModel) {
    var path: [(model: any PersistentModel, ends: [any PersistentModel])] = []
    var next: (any PersistentModel)? = model
    while true {
      if let model = next, let ends = model._$state.beginAdopting(model) {
        path.append((model, ends))
      }
      guard let last = path.indices.last else { return }
      next = path[last].ends.popLast()
      if next == nil { path.removeLast().model._$adopt() }
    }
  }

  /// Marks the object as one whose initial relationships have been taken over.
  ///
  /// - Returns: The other ends that an initializer set, the first one last; `nil` if they were taken over before.
  private func beginAdopting(_ model: any PersistentModel) -> [any PersistentModel]? {
    if flags.contains(.adopted) { return nil }
    flags.insert(.adopted)
    _ = descriptor(of: model)
    initialEnds = []
    model._$adopt()
    let ends = initialEnds ?? []
    initialEnds = nil
    // Those in a context have taken over theirs; another thread may use the context of one that is in the wrong one.
    return ends.reversed().filter { $0.modelContext == nil }
  }

  /// Notes the other ends of a relationship that an initializer set, if the object is only asked for them.
  ///
  /// - Returns: Whether it is.
  func noteInitial(
    _ ends: @autoclosure () -> [any PersistentModel],
    _ ordinal: Int,
    of model: some PersistentModel
  ) -> Bool {
    if initialEnds == nil { return false }
    // Without an inverse, setting the end asks nothing of the other one.
    if descriptor(of: model).properties[ordinal].inverse != nil {
      initialEnds?.append(contentsOf: ends())
    }
    return true
  }
}
