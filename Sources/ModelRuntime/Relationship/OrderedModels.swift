/// Models in the order in which they came, each of them once.
///
/// Taking a model out costs as little as adding one: the models that went are passed over until somebody looks at
/// the rest, who then pays for all of them at once.
struct OrderedModels {
  private var entries: [any PersistentModel] = []
  /// Models that were taken out and are still among the entries, which keep them alive meanwhile.
  private var removals: Set<ObjectIdentifier> = []
  /// The models among the entries, once many were searched.
  private var identities: Set<ObjectIdentifier>?

  /// Up to how many entries are searched one by one.
  private static let shortCount = 16

  init() {}
  init(_ models: [any PersistentModel]) { entries = models }

  var count: Int { entries.count - removals.count }
  var isEmpty: Bool { count == 0 }

  /// The models, in order, if none has to be passed over; looking at them changes nothing.
  var settled: [any PersistentModel]? { removals.isEmpty ? entries : nil }

  /// The models, in order.
  var elements: [any PersistentModel] {
    mutating get {
      compact()
      return entries
    }
  }

  /// Adds a model, which is none of these yet.
  mutating func append(_ model: any PersistentModel) {
    if !removals.isEmpty, removals.contains(ObjectIdentifier(model)) { compact() }
    entries.append(model)
    identities?.insert(ObjectIdentifier(model))
  }

  /// Takes a model out.
  ///
  /// - Returns: Whether it was one of these.
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

  /// Takes out the models of which something holds.
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
