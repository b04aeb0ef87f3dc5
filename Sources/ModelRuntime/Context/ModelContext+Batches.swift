extension ModelContext {
  /// Returns the models that match as a collection that loads them in batches.
  ///
  /// Which models match is settled now, unsaved changes included; a model that is deleted before it is
  /// loaded answers with neutral values and says that it is deleted.
  ///
  /// - Parameters:
  ///   - descriptor: The models to fetch, and their order.
  ///   - batchSize: The number of models that are loaded at a time.
  /// - Returns: The models, loaded as they are asked for.
  /// - Throws: As `fetch`.
  public func fetch<T>(
    _ descriptor: FetchDescriptor<T>,
    batchSize: Int
  ) throws -> FetchResultsCollection<T> where T: PersistentModel {
    let identifiers = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: identifiers.count, batchSize: max(batchSize, 1)) { range in
      self.models(for: identifiers[range])
    }
  }

  /// Returns the identifiers of the models that match, as a collection.
  ///
  /// - Parameters:
  ///   - descriptor: The models to fetch, and their order.
  ///   - batchSize: How many are handed out at a time.
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

  /// The models for identifiers of one class, their rows fetched together.
  func models<T: PersistentModel>(for identifiers: ArraySlice<PersistentIdentifier>) -> [T] {
    let found = identifiers.map { model(for: $0) }
    let hollow = found.filter { $0._$state.needsRow }
    if let connection = hollow.first?._$state.connection {
      noticeCommitsIfCounted(to: connection)
      do {
        let rows = try connection.store.rows(
          at: hollow.map { $0._$state.reference },
          for: editingState
        )
        for (model, row) in zip(hollow, rows) {
          if let row {
            refresh(model._$state, from: row)
          } else {
            model._$state.vanish()
          }
        }
      } catch {
        deferredError = deferredError ?? error
      }
    }
    return found.map { model in
      guard let model = model as? T else {
        preconditionFailure("\(model.persistentModelID) is a \(type(of: model)), not a \(T.self)")
      }
      return model
    }
  }
}

extension _ModelState {
  /// Whether the row has still to be fetched.
  var needsRow: Bool {
    unsafe row == nil && flags.contains(.stored) && !flags.contains(.vanished)
  }
}
