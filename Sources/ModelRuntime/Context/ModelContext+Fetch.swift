public import Foundation
import RowFormat
import SchedulePoints

extension ModelContext {
  /// Returns the models that match, as they are with the context's unsaved changes.
  ///
  /// - Throws: An error of the store, or ``SwiftDataError`` for a class no store keeps.
  ///
  /// Inlinable, so that the most frequent fetch, by a value, inspects no generic type at run time: that costs more
  /// than the fetch does.
  @inlinable
  public func fetch<T>(_ descriptor: FetchDescriptor<T>) throws -> [T] where T: PersistentModel {
    guard let predicate = descriptor.predicate, descriptor.asksForNoMoreThanModels,
      let found = try _lookUp(
        predicate.expression,
        predicate.variable.key,
        of: T.self,
        atMost: descriptor.fetchLimit,
        includingNew: descriptor.includePendingChanges
      )
    else { return try fetchPlanned(descriptor) }
    switch found {
    case .none: return []
    case .one(let model): return unsafe [unsafeDowncast(model, to: T.self)]
    case .many(let models): return models.map { unsafe unsafeDowncast($0, to: T.self) }
    }
  }

  @usableFromInline
  func fetchPlanned<T>(_ descriptor: FetchDescriptor<T>) throws -> [T] where T: PersistentModel {
    try checked("fetch(_:)") {
      try explained(.fetch, descriptor, counting: { $0.count }) { try fetchNow(descriptor) }
    }
  }

  private func fetchNow<T>(_ descriptor: FetchDescriptor<T>) throws -> [T]
  where T: PersistentModel {
    try throwDeferredError()
    mergeSavedChanges()
    let type = ModelDescriptor.of(T.self)
    let connection = try connection(for: descriptor)
    var translation: QueryExpression?
    let models =
      if let several = coordinator.severalConnections(for: type) {
        try fetch(descriptor, fromEachOf: several)
      } else if let found = try lookUp(descriptor, type, in: connection, &translation) {
        found
      } else {
        try fetch(descriptor.translated(translation), from: connection)
      }
    if descriptor.prefetches {
      prefetch(descriptor.relationshipKeyPathsForPrefetching, of: models)
    }
    observers?.showChanges()
    assertInvariants()
    return models
  }

  private func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    from connection: StoreConnection
  ) throws -> [T] {
    while let pending = pendingModels(descriptor) {
      // What unsaved models lead to is read as of the state that the store answers by.
      let found = try holdingState(of: connection) {
        try fetch(descriptor, correctedBy: pending, from: connection)
      }
      if let found { return found }
    }
    return try fetchStored(descriptor, from: connection)
  }

  /// Returns the models that a store finds.
  func fetchStored<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    from connection: StoreConnection
  ) throws -> [T] {
    let trace = editingState.trace
    let changeCount = connection.changeCount
    var answer = try connection.store.fetch(descriptor, for: editingState)
    answer.tell(trace)
    if !answer.needsFilter && !answer.needsSort {
      return materialize(answer.takeRows(), as: T.self, in: connection, readAfter: changeCount)
    }
    if hidesStoredValues(from: descriptor) { return try fetchAsStored(descriptor) }
    // What objects tell is of the same state as the rows.
    return try holdingState(of: connection) {
      if connection.changeCount != changeCount {
        answer = try connection.store.fetch(descriptor, for: editingState)
      }
      return try select(descriptor, among: &answer, from: connection)
    }
  }

  /// Filters and sorts the models of a store's answer, as far as the store has not.
  private func select<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    among answer: inout FetchAnswer,
    from connection: StoreConnection
  ) throws -> [T] {
    let trace = editingState.trace
    var models = materialize(
      answer.takeRows(),
      as: T.self,
      in: connection,
      readAfter: connection.changeCount
    )
    var reading = FetchReading(of: T.self)
    if answer.needsFilter, let predicate = descriptor.predicate { reading.add(predicate) }
    if answer.needsSort { reading.add(descriptor.sortBy) }
    refreshOthers(readBy: reading, from: models, in: connection)
    if answer.needsFilter, let predicate = descriptor.predicate {
      let start = trace?.now
      let filter = ObjectFilter(predicate)
      models = try models.filter(filter.matches)
      trace?.add(.filterObjects, since: start)
    }
    if answer.needsSort {
      let start = trace?.now
      descriptor.sort(&models)
      trace?.add(.sortObjects, since: start)
    }
    return descriptor.slice(of: models)
  }

  /// Finds the unsaved models that correct the store's answer to a fetch.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - read: Adds what else of its models the fetch reads.
  /// - Returns: The models; `nil` if the answer needs no correction.
  func pendingModels<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    alsoReading read: @escaping (inout FetchReading) -> Void = { _ in }
  ) -> PendingModels<T>? {
    if !descriptor.includePendingChanges { return nil }
    if inserted.isEmpty, changed.isEmpty, deletedInMemory.isEmpty, !hasRowsTakenAlong {
      return nil
    }
    return PendingModels(descriptor, in: self, alsoReading: read)
  }

  /// Counts the models that match.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchCount<T>(_ descriptor: FetchDescriptor<T>) throws -> Int
  where T: PersistentModel {
    try checked {
      try explained(.count, descriptor, counting: { $0 }) { try countNow(descriptor) }
    }
  }

  private func countNow<T>(_ descriptor: FetchDescriptor<T>) throws -> Int
  where T: PersistentModel {
    try throwDeferredError()
    let connection = try connection(for: descriptor)
    let count =
      if let several = coordinator.severalConnections(for: .of(T.self)) {
        try count(descriptor, inEachOf: several)
      } else if let pending = pendingModels(descriptor) {
        try holdingState(of: connection) {
          try self.count(descriptor, correctedBy: pending, from: connection)
        }
      } else {
        try connection.store.fetchCount(descriptor, for: editingState)
      }
    return try count ?? fetch(descriptor).count
  }

  /// Returns the identifiers of the models that match, in order, without making objects of them.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<T>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try checked {
      try explained(.identifiers, descriptor, counting: { $0.count }) {
        try identifiersNow(descriptor)
      }
    }
  }

  private func identifiersNow<T>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try throwDeferredError()
    guard let connection = try onlyConnection(for: descriptor) else {
      return try fetch(descriptor).map(\.persistentModelID)
    }
    if let pending = pendingModels(descriptor) {
      let found = try holdingState(of: connection) {
        try identifiers(descriptor, correctedBy: pending, from: connection)
      }
      if let found { return found }
    } else {
      if let found = try connection.store.fetchIdentifiers(descriptor, for: editingState) {
        return found
      }
      let answer = try connection.store.fetch(descriptor, for: editingState)
      answer.tell(editingState.trace)
      if !answer.needsFilter && !answer.needsSort {
        return answer.rows.compactMap { connection.identifier(of: $0.reference) }
      }
    }
    return try fetch(descriptor).map(\.persistentModelID)
  }

  /// Passes the models that match to a block, in batches, so that memory stays bounded.
  ///
  /// - Parameters:
  ///   - fetch: The models to visit, and their order.
  ///   - batchSize: The number of models loaded at a time.
  ///   - allowEscapingMutations: Whether the block may leave unsaved changes behind, which keep their models in memory.
  ///   - block: Called for each model, in order.
  /// - Throws: The error of the block; ``SwiftDataError`` when the context has unsaved changes that it
  ///   may not have.
  public func enumerate<T>(
    _ fetch: FetchDescriptor<T>,
    batchSize: Int = 5000,
    allowEscapingMutations: Bool = false,
    block: (_ model: T) throws -> Void
  ) throws where T: PersistentModel {
    try checked("enumerate(_:batchSize:allowEscapingMutations:block:)") {
      try enumerateNow(fetch, max(batchSize, 1), allowEscapingMutations, block)
    }
  }

  private func enumerateNow<T>(
    _ fetch: FetchDescriptor<T>,
    _ batchSize: Int,
    _ allowEscapingMutations: Bool,
    _ block: (_ model: T) throws -> Void
  ) throws where T: PersistentModel {
    try throwDeferredError()
    if let connection = try onlyConnection(for: fetch),
      pendingModels(fetch) == nil || PlantedFault.enumerationOfStored.isPlanted,
      let references = try connection.store.fetchReferences(fetch, for: editingState)
    {
      try forEachBatch(of: references, batchSize, allowEscapingMutations) { batch in
        let changeCount = connection.changeCount
        let rows = try connection.store.rows(at: Array(batch), for: editingState)
        let models = materialize(
          rows.compactMap { $0 },
          as: T.self,
          in: connection,
          readAfter: changeCount
        )
        for model in models { try block(model) }
      }
    } else {
      let list = ListedModels<T>(try fetchIdentifiers(fetch), of: self)
      try forEachBatch(of: list.identifiers, batchSize, allowEscapingMutations) { batch in
        for model in list.visit(batch.indices) where !model._$state.isKnownGone {
          try block(model)
        }
      }
    }
  }

  private func forEachBatch<Name>(
    of names: [Name],
    _ batchSize: Int,
    _ allowEscapingMutations: Bool,
    _ body: (ArraySlice<Name>) throws -> Void
  ) throws {
    for start in stride(from: 0, to: names.count, by: batchSize) {
      if !allowEscapingMutations, hasChanges { throw SwiftDataError.mutationWhileEnumerating }
      try body(names[start..<min(start + batchSize, names.count)])
    }
    if !allowEscapingMutations, hasChanges { throw SwiftDataError.mutationWhileEnumerating }
  }

  /// The model for an identifier: the registered object, or a new one that reads its row on first use.
  ///
  /// For an identifier without a row, the model answers with neutral values and reports that it is deleted.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    checked {
      if persistentModelID.isTemporary {
        if let found = unsavedModel(for: persistentModelID) { return found }
      } else if let (connection, reference) = coordinator.row(for: persistentModelID),
        let model = model(at: reference, in: connection)
      {
        return model
      }
      return coordinator.placeholder(for: persistentModelID)
    }
  }

  /// The object for an identifier, if the context already has it; the store is not asked.
  public func registeredModel<T>(for persistentModelID: PersistentIdentifier) -> T?
  where T: PersistentModel {
    checked {
      if persistentModelID.isTemporary {
        return unsavedModel(for: persistentModelID) as? T
      }
      guard let (connection, reference) = coordinator.knownRow(for: persistentModelID) else {
        return nil
      }
      makeModelsTakenAlong()
      return maps[connection.index][reference]?.model as? T
    }
  }

  // MARK: Objects for rows

  func connection(for type: any PersistentModel.Type) throws -> StoreConnection {
    try connection(for: .of(type))
  }

  /// The store of a fetch's models, or, of several, the one that new models are saved to.
  ///
  /// - Throws: ``SwiftDataError`` for a class that no store keeps; and if the fetch reads models of a class that the schema
  ///   has another of, whose columns are others.
  func connection<T: PersistentModel>(for fetch: FetchDescriptor<T>) throws -> StoreConnection {
    let connection = try connection(for: .of(T.self))
    if coordinator.schema.isMixed {
      var reading = FetchReading(of: T.self)
      if let predicate = fetch.predicate { reading.add(predicate) }
      reading.add(fetch.sortBy)
      if let foreign = reading.classes.first(where: { !coordinator.schema.contains($0.type) }) {
        throw SwiftDataError.otherVersion(
          foreign.type,
          readByFetchOf: T.self,
          in: coordinator.schema
        )
      }
    }
    return connection
  }

  func connection(for descriptor: ModelDescriptor) throws -> StoreConnection {
    guard let connection = coordinator.connection(for: descriptor) else {
      throw SwiftDataError.missingEntity(descriptor.entityName)
    }
    return connection
  }
}

extension FetchDescriptor {
  /// Cuts a list to the descriptor's offset and limit.
  func slice(of models: [T]) -> [T] {
    let rest = models.dropFirst(max(fetchOffset ?? 0, 0))
    return Array(fetchLimit.map { $0 > 0 ? rest.prefix($0) : rest } ?? rest)
  }
}
