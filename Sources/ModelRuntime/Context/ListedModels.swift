/// The models that a fetch found, listed by identifier and loaded in batches.
///
/// A save gives new models other identifiers, and the context then forgets the temporary ones: so the list keeps the
/// models that it names by temporary identifiers.
final class ListedModels<T: PersistentModel> {
  let identifiers: [PersistentIdentifier]
  private let new: [PersistentIdentifier: T]
  private let context: ModelContext
  /// The identifiers of the list, needed by ``visit(_:)`` once a save has come between: it may have merged models.
  private lazy var listed = Set(identifiers)
  private lazy var listedNew = Set(new.values.map { ObjectIdentifier($0) })

  init(_ identifiers: [PersistentIdentifier], of context: ModelContext) {
    self.identifiers = identifiers
    self.context = context
    var new: [PersistentIdentifier: T] = [:]
    for identifier in identifiers where identifier.isTemporary {
      new[identifier] = context.unsavedModel(for: identifier) as? T
    }
    self.new = new
  }

  /// The models at some places of the list, their rows fetched together.
  func load(_ places: Range<Int>) -> [T] {
    context.load(identifiers[places].map(model(for:)))
  }

  /// The models at some places of the list, except those that also occur at another place because a save merged two models.
  func visit(_ places: Range<Int>) -> [T] {
    let found = identifiers[places].compactMap { identifier -> (any PersistentModel)? in
      let model = model(for: identifier)
      return isElsewhere(model, identifier) ? nil : model
    }
    return context.load(found)
  }

  private func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    guard let model = new[identifier] else { return context.model(for: identifier) }
    let state = model._$state
    if state.context === context || state.isDeleted { return model }
    // It was merged into another model, whose identifier it has, or rolled back.
    return context.model(for: model.persistentModelID)
  }

  private func isElsewhere(
    _ model: any PersistentModel,
    _ identifier: PersistentIdentifier
  ) -> Bool {
    guard let former = new[identifier] else { return false }
    let current = model.persistentModelID
    if current == identifier { return false }
    return listed.contains(current)
      || former !== model && listedNew.contains(ObjectIdentifier(model))
  }
}
