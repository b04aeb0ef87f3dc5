/// Models in the order of their addition, without duplicates.
///
/// Removing a model costs as little as adding one: removed models are skipped until the rest is
/// read, which then pays for all of them at once.
struct OrderedModels {
  private var entries: [any PersistentModel] = []
  /// Removed models that are still among the entries, which keep them alive meanwhile.
  private var removals: Set<ObjectIdentifier> = []
  /// The models among the entries, once many were searched.
  private var identities: Set<ObjectIdentifier>?

  /// Maximum number of entries that are searched one by one.
  private static let shortCount = 16

  init() {}
  init(_ models: [any PersistentModel]) { entries = models }

  var count: Int { entries.count - removals.count }
  var isEmpty: Bool { count == 0 }

  /// The models, in order, if none must be skipped; reading them changes nothing.
  var settled: [any PersistentModel]? { removals.isEmpty ? entries : nil }

  /// The models, in order.
  var elements: [any PersistentModel] {
    mutating get {
      compact()
      return entries
    }
  }

  /// Adds a model that is not there yet.
  mutating func append(_ model: any PersistentModel) {
    if !removals.isEmpty, removals.contains(ObjectIdentifier(model)) { compact() }
    entries.append(model)
    identities?.insert(ObjectIdentifier(model))
  }

  /// Removes a model.
  ///
  /// - Returns: Whether it was there.
  /// - Complexity: O(1) on average; the first time in a long list it is O(*n*).
  @discardableResult
  mutating func remove(_ model: any PersistentModel) -> Bool {
    guard contains(model) else { return false }
    identities?.remove(ObjectIdentifier(model))
    if removals.isEmpty, let last = entries.last, last === model {
      entries.removeLast()
    } else {
      removals.insert(ObjectIdentifier(model))
    }
    return true
  }

  /// Removes the models that pass a test.
  mutating func removeAll(where isDone: (any PersistentModel) -> Bool) {
    compact()
    entries.removeAll(where: isDone)
    identities = nil
  }

  mutating func removeAll(keepingCapacity: Bool = false) {
    entries.removeAll(keepingCapacity: keepingCapacity)
    removals = []
    identities = nil
  }

  mutating func contains(_ model: any PersistentModel) -> Bool {
    if entries.isEmpty { return false }
    let id = ObjectIdentifier(model)
    if removals.contains(id) { return false }
    if let identities { return identities.contains(id) }
    if entries.count <= Self.shortCount { return entries.contains { ObjectIdentifier($0) == id } }
    compact()
    let all = Set(entries.lazy.map { ObjectIdentifier($0) })
    identities = all
    return all.contains(id)
  }

  /// The models as an array, to be read or changed in place.
  var array: [any PersistentModel] {
    mutating get { elements }
    _modify {
      compact()
      identities = nil
      yield &entries
    }
  }

  private mutating func compact() {
    if removals.isEmpty { return }
    entries.removeAll { removals.contains(ObjectIdentifier($0)) }
    removals = []
  }
}
