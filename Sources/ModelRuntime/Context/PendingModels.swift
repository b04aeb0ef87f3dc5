import Foundation

/// The unsaved models of one class in a context: what a store's answer has to be corrected by.
struct PendingModels<T: PersistentModel> {
  private var inserted: [T] = []
  private var changed: [T] = []
  private var deleted: Set<ObjectIdentifier> = []

  init() {}

  init(of type: T.Type, in context: ModelContext) {
    inserted = context.insertedModelsArray.compactMap { $0 as? T }
    changed = context.changedModelsArray.compactMap { $0 as? T }
    deleted = Set(context.deleted.lazy.filter { $0 is T }.map { ObjectIdentifier($0) })
  }

  /// Whether rows of the store have changed, which may now belong elsewhere.
  var hasChangedRows: Bool { !changed.isEmpty }

  var isEmpty: Bool { inserted.isEmpty && changed.isEmpty && deleted.isEmpty }

  /// Makes a list fetched from the store what it would be if everything had been saved.
  ///
  /// - Returns: Whether anything was added, so that the list has to be sorted again.
  func merge(into models: inout [T], matching predicate: Predicate<T>?) throws -> Bool {
    if isEmpty { return false }
    let filter = predicate.map { ObjectFilter($0) }
    let retested = Set(changed.map { ObjectIdentifier($0) })
    var present: Set<ObjectIdentifier> = []
    models = try models.filter { model in
      let id = ObjectIdentifier(model)
      if deleted.contains(id) { return false }
      if retested.contains(id) {
        guard try filter?.matches(model) ?? true else { return false }
        present.insert(id)
      }
      return true
    }
    let missing = changed.filter { !present.contains(ObjectIdentifier($0)) } + inserted
    let added = try missing.filter { try filter?.matches($0) ?? true }
    models += added
    return !added.isEmpty || !present.isEmpty
  }
}
