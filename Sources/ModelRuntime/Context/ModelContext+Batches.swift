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
    if let connection = found.lazy.compactMap({ $0._$state.connection }).first {
      noticeCommitsIfCounted(to: connection)
      let hollow = found.filter { $0._$state.needsRow || $0._$state.hasOutdatedRow }
      do {
        let rows = try connection.store.rows(
          at: hollow.map { $0._$state.reference },
          for: editingState
        )
        for (model, row) in zip(hollow, rows) {
          if let row {
            refresh(model._$state, from: row)
            model._$state.rowEpoch = listEpoch
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
  /// Whether the row must still be fetched.
  var needsRow: Bool {
    unsafe row == nil && flags.contains(.stored) && !flags.contains(.vanished)
  }

  /// Whether others may have changed the row since it was read.
  fileprivate var hasOutdatedRow: Bool {
    guard unsafe row != nil, flags.contains(.stored), !flags.contains(.vanished), let context
    else { return false }
    return rowEpoch != context.listEpoch
  }
}
