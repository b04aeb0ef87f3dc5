import Foundation
import RowFormat

extension ModelContext {
  /// Returns the models that match, as they are with the context's unsaved changes.
  ///
  /// - Throws: What the store could not do, or ``SwiftDataError`` for a class no store keeps.
  public func fetch<T>(_ descriptor: FetchDescriptor<T>) throws -> [T] where T: PersistentModel {
    try checked { try fetchNow(descriptor) }
  }

  private func fetchNow<T>(_ descriptor: FetchDescriptor<T>) throws -> [T]
  where T: PersistentModel {
    try throwDeferredError()
    mergeSavedChanges()
    let connection = try connection(for: T.self)
    let pending =
      descriptor.includePendingChanges ? PendingModels(of: T.self, in: self) : PendingModels()
    var request = descriptor
    if !pending.isEmpty {
      request.fetchLimit = nil
      request.fetchOffset = nil
    }
    var answer = try connection.fetch(request, for: editingState)
    var models = materialize(answer.takeRows(), as: T.self, in: connection)
    if answer.needsFilter, let predicate = descriptor.predicate {
      let filter = ObjectFilter(predicate)
      models = try models.filter { try filter.matches($0) }
    }
    let merged = try pending.merge(into: &models, matching: descriptor.predicate)
    if merged, pending.hasChangedRows, connection.ordersRowsByReference {
      // As they would come if everything had been saved, equal ones too.
      descriptor.sortByRow(&models)
    } else if answer.needsSort || merged, !descriptor.sortBy.isEmpty {
      descriptor.sort(&models)
    }
    if answer.needsFilter || answer.needsSort || !pending.isEmpty {
      models = descriptor.slice(of: models)
    }
    prefetch(descriptor.relationshipKeyPathsForPrefetching, of: models)
    observers?.showChanges()
    assertInvariants()
    return models
  }

  /// Counts the models that match.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchCount<T>(_ descriptor: FetchDescriptor<T>) throws -> Int
  where T: PersistentModel {
    try throwDeferredError()
    let connection = try connection(for: T.self)
    if !descriptor.includePendingChanges || PendingModels(of: T.self, in: self).isEmpty,
      let count = try connection.fetchCount(descriptor, for: editingState)
    {
      return count
    }
    return try fetch(descriptor).count
  }

  /// Returns the identifiers of the models that match, in order, without making objects of them.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<T>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try throwDeferredError()
    let connection = try connection(for: T.self)
    if !descriptor.includePendingChanges || PendingModels(of: T.self, in: self).isEmpty {
      if let found = try connection.fetchIdentifiers(descriptor, for: editingState) {
        return found
      }
      let answer = try connection.fetch(descriptor, for: editingState)
      if !answer.needsFilter && !answer.needsSort {
        return answer.rows.compactMap { connection.identifier(of: $0.reference) }
      }
    }
    return try fetch(descriptor).map(\.persistentModelID)
  }

  /// Hands the models that match to a block, in batches, so that memory stays bounded.
  ///
  /// - Parameters:
  ///   - fetch: Which models.
  ///   - batchSize: How many are in memory at a time.
  ///   - allowEscapingMutations: Whether the block may leave unsaved changes behind; they keep their
  ///     models in memory.
  ///   - block: Called for each model, in order.
  /// - Throws: What the block throws; ``SwiftDataError`` when the context has unsaved changes that it
  ///   may not have.
  public func enumerate<T>(
    _ fetch: FetchDescriptor<T>,
    batchSize: Int = 5000,
    allowEscapingMutations: Bool = false,
    block: (_ model: T) throws -> Void
  ) throws where T: PersistentModel {
    let batchSize = max(batchSize, 1)
    let identifiers = try fetchIdentifiers(fetch)
    let connection = try connection(for: T.self)
    for start in stride(from: 0, to: identifiers.count, by: batchSize) {
      if !allowEscapingMutations, hasChanges { throw SwiftDataError.mutationWhileEnumerating }
      let batch = identifiers[start..<min(start + batchSize, identifiers.count)]
      let rows = try connection.rows(
        at: batch.compactMap { connection.reference(of: $0) },
        for: editingState
      )
      for model in materialize(rows.compactMap { $0 }, as: T.self, in: connection) {
        try block(model)
      }
    }
    if !allowEscapingMutations, hasChanges { throw SwiftDataError.mutationWhileEnumerating }
  }

  /// The model for an identifier: the registered object, or one that reads its row on first use.
  ///
  /// For an identifier that stands for nothing, the model answers with neutral values and says that it
  /// is deleted.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    if persistentModelID.isTemporary {
      if let found = inserted.first(where: {
        $0._$state.identifierIfKnown == persistentModelID
      }) {
        return found
      }
    } else if let (connection, reference) = coordinator.row(for: persistentModelID),
      let model = model(at: reference, in: connection)
    {
      return model
    }
    return coordinator.placeholder(for: persistentModelID)
  }

  /// The object for an identifier, if the context has it already; the store is not asked.
  public func registeredModel<T>(for persistentModelID: PersistentIdentifier) -> T?
  where T: PersistentModel {
    if persistentModelID.isTemporary {
      return inserted.first { $0._$state.identifierIfKnown == persistentModelID } as? T
    }
    guard let (connection, reference) = coordinator.row(for: persistentModelID) else { return nil }
    return maps[connection.index][reference]?.model as? T
  }

  // MARK: Objects for rows

  func connection(for type: any PersistentModel.Type) throws -> StoreConnection {
    let descriptor = ModelDescriptor.of(type)
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
