import Foundation
import RowFormat

// The fetch that programs make most often, one by one: a handful of models by the value of an attribute, as in "find
// it, or create it". A store with an index answers it from an expression alone, and new models are found by value. What
// does not depend on the class of the models is not generic: looking at generic types as the program runs costs more
// than the look-up.

extension ModelContext {
  /// Fetches the models that a predicate names by values.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - type: The class of the models.
  ///   - connection: The store.
  ///   - translation: Set to the translation of the predicate, if one was made.
  /// - Returns: `nil` for any other fetch, and where more is unsaved than new models.
  /// - Throws: What the store throws.
  func lookUp<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ type: ModelDescriptor,
    in connection: StoreConnection,
    _ translation: inout QueryExpression?
  ) throws -> [T]? {
    guard editingState.trace == nil, descriptor.fetchOffset ?? 0 <= 0,
      let predicate = descriptor.predicate, descriptor.sortBy.isEmpty,
      let expression = descriptor.translation ?? (try? QueryExpression(predicate))
    else { return nil }
    translation = expression
    let changeCount = connection.changeCount
    guard
      let found = try lookUp(
        expression,
        of: type,
        atMost: descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max,
        includingNew: descriptor.includePendingChanges,
        in: connection
      )
    else { return nil }
    if found.rows.isEmpty {
      if connection.hasRelationships { noticeCommits(to: connection, readAfter: changeCount) }
      return found.new.isEmpty ? [] : array(of: found.new)
    }
    let models = materialize(found.rows, as: T.self, in: connection, readAfter: changeCount)
    return found.new.isEmpty ? models : models + array(of: found.new)
  }

  /// Models as what they are known to be.
  private func array<T: PersistentModel>(of models: [any PersistentModel]) -> [T] {
    unsafe Array(unsafeUninitializedCapacity: models.count) { buffer, count in
      for model in models {
        guard let model = model as? T else { preconditionFailure("\(model) is no \(T.self)") }
        unsafe buffer.initializeElement(at: count, to: model)
        count += 1
      }
    }
  }

  private func lookUp(
    _ expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int,
    includingNew: Bool,
    in connection: StoreConnection
  ) throws -> (rows: [FetchedRow], new: [any PersistentModel])? {
    guard let lookup = expression.valueLookup(of: type),
      let classes = includingNew ? newModels(of: type, readBy: expression) : [],
      let rows = try connection.store.rows(
        matching: expression,
        of: type,
        atMost: limit,
        for: editingState
      )
    else { return nil }
    // New models are behind all rows.
    if classes.isEmpty || rows.count >= limit { return (rows, []) }
    return (rows, try matching(expression, lookup, of: type, in: classes, limit - rows.count))
  }

  /// The new models of a class, if nothing else is unsaved that an answer of the store has to be corrected by.
  private func newModels(
    of type: ModelDescriptor,
    readBy expression: QueryExpression
  ) -> [UnsavedClass]? {
    if insertedModels.isEmpty, changedModels.isEmpty, deletedModels.isEmpty { return [] }
    unsaved.update(from: self)
    guard unsaved.deleted.classes(below: type).isEmpty else { return nil }
    let changed = unsaved.changed.classes(below: type)
    if !changed.isEmpty {
      var reading = FetchReading(of: type.type)
      reading.add(expression)
      if reading.readsOthers { return nil }
      for models in changed {
        if reading.isAffected(byAnyOf: models.columns, of: models.descriptor) { return nil }
      }
    }
    return unsaved.inserted.classes(below: type)
  }

  /// The first new models that match, in the order in which they were inserted.
  private func matching(
    _ expression: QueryExpression,
    _ lookup: UnsavedLookup,
    of type: ModelDescriptor,
    in classes: [UnsavedClass],
    _ limit: Int
  ) throws -> [any PersistentModel] {
    let models = inserted
    var found: [any PersistentModel] = []
    /// - Returns: Whether more are wanted.
    func take(_ position: Int32, _ test: ModelTest?) throws -> Bool {
      let model = models[Int(position)]
      // One whose row others have deleted waits for a save that will say so.
      guard model._$state.flags.isDisjoint(with: [.deleted, .vanished]),
        try test?.matches(model) ?? true
      else { return true }
      found.append(model)
      return found.count < limit
    }
    if classes.count == 1, let value = lookup.values.first, lookup.values.count == 1,
      expression.isPlainEquality
    {
      try classes[0].forEachPosition(having: value, in: lookup.column, of: models) {
        try take($0, nil)
      }
      return found
    }
    var positions = classes.flatMap {
      $0.positions(having: lookup.values, in: lookup.column, of: models)
    }
    if positions.isEmpty { return [] }
    if classes.count > 1 { positions.sort() }
    let test = ModelTest(expression, of: type)
    for position in positions where try !take(position, test) { break }
    return found
  }
}

extension QueryExpression {
  /// Whether a model matches exactly if an attribute of its own reads as a constant, by their equality here.
  fileprivate var isPlainEquality: Bool {
    switch self {
    case .comparison(.equal, .column(let path, let reading), .constant, let kind),
      .comparison(.equal, .constant, .column(let path, let reading), let kind):
      switch kind {
      case .text, .integer, .unsigned, .uuid:
        path.level == 0 && path.steps.isEmpty && reading.kind == kind && reading.enumeration == nil
      case .bool, .double, .float, .date, .url, .bytes, .identifier: false
      }
    default: false
    }
  }
}
