extension ModelContext {
  /// Returns the models that match as a collection that loads them in batches.
  ///
  /// The matching models are determined now, unsaved changes included; a model that is deleted before it is
  /// loaded answers with neutral values and reports that it is deleted. Models that are new now are kept with the
  /// collection, also when they are saved.
  ///
  /// - Parameters:
  ///   - descriptor: The models to fetch, and their order.
  ///   - batchSize: The number of models that are loaded at a time.
  /// - Returns: The models, loaded on demand.
  /// - Throws: As `fetch`.
  public func fetch<T>(
    _ descriptor: FetchDescriptor<T>,
    batchSize: Int
  ) throws -> FetchResultsCollection<T> where T: PersistentModel {
    let list = ListedModels<T>(try fetchIdentifiers(descriptor), of: self)
    return FetchResultsCollection(count: list.identifiers.count, batchSize: max(batchSize, 1)) {
      list.load($0)
    }
  }

  /// Returns the identifiers of the models that match, as a collection.
  ///
  /// - Parameters:
  ///   - descriptor: The models to fetch, and their order.
  ///   - batchSize: The number of identifiers handed out at a time.
  /// - Returns: The identifiers.
  /// - Throws: As `fetch`.
  public func fetchIdentifiers<T>(
    _ descriptor: FetchDescriptor<T>,
    batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> where T: PersistentModel {
    let identifiers = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: identifiers.count, batchSize: max(batchSize, 1)) { range in
      Array(identifiers[range])
    }
  }

  /// Returns models of one class, and fetches together the rows that are not in memory or that others may have changed.
  func load<T: PersistentModel>(_ found: [any PersistentModel]) -> [T] {
    for connection in coordinator.connections(for: .of(T.self)) {
      noticeCommitsIfCounted(to: connection)
      let outdated = found.map { $0._$state }.filter { state in
        state.connection === connection && state.flags.contains(.stored)
          && !state.flags.contains(.vanished)
          && (unsafe state.row == nil || hasOutdatedRow(state))
      }
      refreshRows(of: outdated, from: connection)
    }
    return found.map { model in
      guard let model = model as? T else {
        preconditionFailure("\(model.persistentModelID) is a \(type(of: model)), not a \(T.self)")
      }
      return model
    }
  }
}
