public import Foundation
import RowFormat

// The fetch that programs make most often, one by one: a few models by the value of an attribute, as in "find it, or
// create it". A store with an index answers it from an expression alone, and new models are found by value. Code
// that does not depend on the class of the models is not generic: inspecting generic types at run time costs more
// than the look-up.

/// The models found by a look-up: mostly none, or one.
@usableFromInline
enum _FoundModels {
  case none
  case one(AnyObject)
  case many([AnyObject])

  fileprivate mutating func append(_ object: AnyObject) {
    switch self {
    case .none: self = .one(object)
    case .one(let first): self = .many([first, object])
    case .many(var objects):
      self = .none
      objects.append(object)
      self = .many(objects)
    }
  }
}

extension ModelContext {
  /// Fetches the models that have a value in an attribute, by the plan of an earlier such fetch.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - variable: Its variable.
  ///   - type: The class of the models.
  ///   - limit: Maximum number of models.
  ///   - includesNew: Whether unsaved changes count.
  /// - Returns: `nil` for any other fetch, and if a plan must be made first.
  /// - Throws: As ``fetch(_:)``.
  @usableFromInline
  func _lookUp(
    _ expression: any StandardPredicateExpression<Bool>,
    _ variable: PredicateExpressions.VariableID,
    of type: any PersistentModel.Type,
    atMost limit: Int?,
    includingNew includesNew: Bool
  ) throws -> _FoundModels? {
    if ConcurrencyCheck.isEnabled || PlanPrinting.isEnabled || editingState.trace != nil {
      return nil
    }
    guard
      let (plan, lookUp, value) = lookUps.plan(
        for: expression,
        variable,
        learn: { learn(expression, $0, $1, of: .of(type)) }
      )
    else { return nil }
    try throwDeferredError()
    mergeSavedChanges()
    guard
      let found = try find(
        value,
        lookUp,
        plan,
        atMost: limit.flatMap { $0 > 0 ? $0 : nil } ?? .max,
        includesNew
      )
    else { return nil }
    observers?.showChanges()
    assertInvariants()
    return found
  }

  private func learn(
    _ expression: any StandardPredicateExpression<Bool>,
    _ parts: PropertyEqualityParts,
    _ node: any PropertyEquality.Type,
    of type: ModelDescriptor
  ) -> LookUpPlan? {
    guard let connection = coordinator.connection(for: type),
      coordinator.severalConnections(for: type) == nil
    else { return nil }
    var reading = FetchReading(of: type.type)
    var lookUp: AttributeLookUp?
    if let translation = try? QueryExpression(expression, parts.variable, of: type) {
      reading.add(translation)
      lookUp = AttributeLookUp(translation, of: type)
    }
    return LookUpPlan(
      ObjectIdentifier(Swift.type(of: expression)),
      node,
      parts.keyPath,
      connection,
      lookUp,
      reading
    )
  }

  private func find(
    _ value: QueryValue,
    _ lookUp: AttributeLookUp,
    _ plan: LookUpPlan,
    atMost limit: Int,
    _ includesNew: Bool
  ) throws -> _FoundModels? {
    let connection = plan.connection
    let changeCount = connection.changeCount
    guard let classes = includesNew ? newModels(of: lookUp.type, readBy: plan.reading) : [],
      var rows = try connection.store.rows(
        having: value,
        of: lookUp,
        atMost: limit,
        for: editingState
      )
    else { return nil }
    if rows.isEmpty {
      if connection.hasRelationships { noticeCommits(to: connection, readAfter: changeCount) }
      if classes.isEmpty { return _FoundModels.none }
    }
    var found = _FoundModels.none
    if !rows.isEmpty {
      // New models follow all rows.
      let isFull = rows.count >= limit
      found = objects(for: &rows, of: lookUp.type, in: connection, readAfter: changeCount)
      if classes.isEmpty || isFull { return found }
    }
    try forEachNewModel(
      having: value,
      lookUp,
      in: classes,
      atMost: limit - rows.count
    ) { found.append($0) }
    return found
  }

  /// Calls a closure with the first new models that have a value, in the order in which they were inserted.
  private func forEachNewModel(
    having value: QueryValue,
    _ lookUp: AttributeLookUp,
    in classes: [UnsavedClass],
    atMost limit: Int,
    _ body: (any PersistentModel) -> Void
  ) throws {
    guard classes.count == 1 else {
      let values = UnsavedLookup(column: lookUp.reading.column, values: [value])
      for model in try matching(
        lookUp.expression(for: value),
        values,
        of: lookUp.type,
        in: classes,
        limit
      ) { body(model) }
      return
    }
    let models = inserted
    var count = 0
    classes[0].forEachPosition(having: value, in: lookUp.reading.column, of: models) {
      let model = models[Int($0)]
      guard isStillNew(model) else { return true }
      body(model)
      count += 1
      return count < limit
    }
  }

  /// Whether a fetch finds a new model: a model whose row others have deleted waits for a save to report it.
  private func isStillNew(_ model: any PersistentModel) -> Bool {
    model._$state.flags.isDisjoint(with: [.deleted, .vanished])
  }

  /// Fetches the models whose values a predicate names.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - type: The class of the models.
  ///   - connection: The store.
  ///   - translation: Set to the translation of the predicate, if one was made.
  /// - Returns: `nil` for any other fetch, and if models other than new ones are unsaved.
  /// - Throws: An error of the store.
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

  /// Casts models to their known class.
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
      let classes = includingNew ? newModels(of: type, readBy: reading(of: expression, type)) : [],
      let rows = try connection.store.rows(
        matching: expression,
        of: type,
        atMost: limit,
        for: editingState
      )
    else { return nil }
    // New models follow all rows.
    if classes.isEmpty || rows.count >= limit { return (rows, []) }
    return (rows, try matching(expression, lookup, of: type, in: classes, limit - rows.count))
  }

  private func reading(of expression: QueryExpression, _ type: ModelDescriptor) -> FetchReading {
    var reading = FetchReading(of: type.type)
    reading.add(expression)
    return reading
  }

  /// The new models of a class, if no other unsaved model affects the store's answer.
  private func newModels(
    of type: ModelDescriptor,
    readBy reading: @autoclosure () -> FetchReading
  ) -> [UnsavedClass]? {
    if changedModels.isEmpty, deletedModels.isEmpty, !hasRowsTakenAlong {
      if insertedModels.isEmpty { return [] }
      unsaved.updateInserted(from: self)
      return unsaved.inserted.classes(below: type)
    }
    unsaved.update(from: self, for: type)
    guard unsaved.deleted.classes(below: type).isEmpty else { return nil }
    let changed = unsaved.changed.classes(below: type)
    if !changed.isEmpty {
      let reading = reading()
      if hasRowsTakenAlong || unsaved.mayAffectOthers(readBy: reading) { return nil }
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
    /// - Returns: Whether more models are wanted.
    func take(_ position: Int32, _ test: ModelTest?) throws -> Bool {
      let model = models[Int(position)]
      guard isStillNew(model), try test?.matches(model) ?? true else { return true }
      found.append(model)
      return found.count < limit
    }
    if classes.count == 1, let value = lookup.values.first, lookup.values.count == 1 {
      let isEnough = AttributeLookUp(expression, of: type) != nil
      let test = isEnough ? nil : ModelTest(expression, of: type)
      try classes[0].forEachPosition(having: value, in: lookup.column, of: models) {
        try take($0, test)
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
