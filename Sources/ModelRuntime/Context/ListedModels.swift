/// The models that a fetch has found, by their identifiers, to be loaded in batches.
///
/// A save gives new models other identifiers, and the context then forgets those that they had: so models that the
/// list names by such a one are kept with it.
final class ListedModels<T: PersistentModel> {
  let identifiers: [PersistentIdentifier]
  private let new: [PersistentIdentifier: T]
  private let context: ModelContext
  /// What ``visit(_:)`` needs to know as soon as a save has come between: it may have merged models.
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

  /// The models at some places of the list, without those that are at another place, too: a save has merged two of them.
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
    // It was merged into another one, whose identifier it has, or rolled back.
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
