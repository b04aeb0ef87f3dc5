/// The models of a to-many relationship that is in memory, in order.
///
/// A class, and apart from its typed half, so that whoever does not know the models' type can hold it,
/// count it and change it without copying the list.
class RelatedModels {
  /// The members that came since the last save, in order; their places are behind all others'.
  var added: [any PersistentModel] = []

  var count: Int { notOverridden() }
  /// The members; a new list is made for it.
  var models: [any PersistentModel] { notOverridden() }

  /// Adds a model, which is no member yet, behind the others.
  func append(_ model: any PersistentModel) { notOverridden() }

  /// Puts a model at a place.
  func insert(_ model: any PersistentModel, at place: Int) { notOverridden() }

  /// Takes a model out.
  ///
  /// - Complexity: O(1); the next one who looks at the list pays O(*n*) for all that were taken out.
  func remove(_ model: any PersistentModel) { notOverridden() }

  /// Whether a model is a member.
  ///
  /// - Complexity: O(1); the first time in a long list it is O(*n*).
  func contains(_ model: any PersistentModel) -> Bool { notOverridden() }

  /// The place of a member.
  func place(of model: any PersistentModel) -> Int? { notOverridden() }

  /// Takes over the members of a list of the same relationship.
  func replace(with models: [any PersistentModel]) { notOverridden() }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

/// The models of a to-many relationship as its property declares them.
final class RelatedModelsOf<Model: PersistentModel>: RelatedModels {
  /// The members, and those in `removals`.
  private var stored: [Model]
  /// Members that were taken out and still stand in `stored`, which keeps them alive meanwhile.
  private var removals: Set<ObjectIdentifier> = []
  /// Who is a member, once a long list was asked.
  private var identities: Set<ObjectIdentifier>?

  init(_ models: [Model]) { stored = models }

  /// Up to how many members are looked through one by one.
  private static var shortCount: Int { 16 }

  /// The members; the list's own storage, so whoever changes it gets a copy.
  var members: [Model] {
    compact()
    return stored
  }

  override var count: Int { stored.count - removals.count }
  override var models: [any PersistentModel] { members }

  override func append(_ model: any PersistentModel) {
    guard let model = model as? Model else { return }
    compact()
    push(model)
    stored.append(contentsOf: CollectionOfOne(model))
  }

  /// Takes note of a member that is being added behind the others.
  private func push(_ model: Model) {
    added.append(model)
    identities?.insert(ObjectIdentifier(model))
  }

  override func insert(_ model: any PersistentModel, at place: Int) {
    guard let model = model as? Model, !contains(model) else { return }
    compact()
    identities?.insert(ObjectIdentifier(model))
    stored.insert(model, at: min(place, stored.count))
  }

  override func remove(_ model: any PersistentModel) {
    guard contains(model) else { return }
    removals.insert(ObjectIdentifier(model))
    identities?.remove(ObjectIdentifier(model))
    if !added.isEmpty { added.removeAll { $0 === model } }
  }

  override func contains(_ model: any PersistentModel) -> Bool {
    let id = ObjectIdentifier(model)
    if removals.contains(id) { return false }
    if stored.count <= Self.shortCount { return stored.contains { ObjectIdentifier($0) == id } }
    if let identities { return identities.contains(id) }
    compact()
    let all = Set(stored.lazy.map { ObjectIdentifier($0) })
    identities = all
    return all.contains(id)
  }

  override func place(of model: any PersistentModel) -> Int? {
    members.firstIndex { $0 === model }
  }

  override func replace(with models: [any PersistentModel]) {
    replace(with: models.compactMap { $0 as? Model })
  }

  func replace(with models: [Model]) {
    stored = models
    removals = []
    identities = nil
  }

  private func compact() {
    if removals.isEmpty { return }
    stored.removeAll { removals.contains(ObjectIdentifier($0)) }
    removals = []
  }
}

// MARK: Changing a list in place

extension RelatedModelsOf {
  /// Whether an array is this list's storage, untouched: every change to a shared array copies it.
  func shares(_ array: [Model]) -> Bool {
    guard removals.isEmpty, array.count == stored.count else { return false }
    return array.withUnsafeBufferPointer { theirs in
      stored.withUnsafeBufferPointer { ours in theirs.baseAddress == ours.baseAddress }
    }
  }

  /// Adds a model behind the others to an array that shares this list's storage, without copying it.
  ///
  /// - Returns: Whether that was possible: not if a third array shares the storage too.
  func append(_ model: Model, toSharing array: inout [Model]) -> Bool {
    stored = []
    // Only the array itself is left to hold the storage, unless somebody took a copy of it: asking for
    // the right to change it then gives it storage of its own.
    let before = array.withUnsafeBufferPointer { $0.baseAddress }
    let isUnique = array.withUnsafeMutableBufferPointer { UnsafePointer($0.baseAddress) } == before
    if isUnique {
      push(model)
      array.append(contentsOf: CollectionOfOne(model))
    }
    stored = array
    return isUnique
  }

  /// Makes sure that the storage of an empty list is its own, and not the one all empty arrays share.
  func makeDistinct() {
    compact()
    if stored.capacity == 0 { stored.reserveCapacity(4) }
  }
}
