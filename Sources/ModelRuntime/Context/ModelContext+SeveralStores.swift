import Foundation
import RowFormat

// Fetches of a class that several stores of the container keep: each store answers for its own models, and the context
// merges the answers.

extension ModelContext {
  /// The store of a fetch's models; `nil` if more than one keeps them.
  ///
  /// - Throws: ``SwiftDataError`` for a class that no store keeps.
  func onlyConnection<T: PersistentModel>(
    for fetch: FetchDescriptor<T>
  ) throws -> StoreConnection? {
    let connection = try connection(for: fetch)
    return coordinator.severalConnections(for: .of(T.self)) == nil ? connection : nil
  }

  /// Returns the models that match, of all stores: sorted, and those with equal keys store by store.
  ///
  /// - Complexity: That of a fetch from each store of as many models as the fetch's end allows, or of all while models of
  ///   the class are unsaved.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    fromEachOf connections: [StoreConnection]
  ) throws -> [T] {
    if hidesStoredValues(from: descriptor) { return try fetchAsStored(descriptor) }
    while true {
      let pending = pendingModels(descriptor)
      var request = descriptor
      request.fetchOffset = nil
      request.fetchLimit = pending == nil ? descriptor.end : nil
      var models: [T] = []
      for connection in connections {
        let changeCount = connection.changeCount
        models += try fetchStored(request, from: connection)
        pending?.refresh(from: connection, readAfter: changeCount)
      }
      if let pending {
        models = try pending.correcting(models, isFiltered: true)
        if !pending.isCurrent { continue }
        sortByStore(&models)
      }
      descriptor.sort(&models)
      return descriptor.slice(of: models)
    }
  }

  /// Sorts models store by store, in the order of their rows; new ones come last.
  private func sortByStore<T: PersistentModel>(_ models: inout [T]) {
    let keys = models.enumerated().map { place, model -> (store: Int, row: UInt64, place: Int) in
      guard let row = model.row, let connection = model._$state.connection else {
        return (.max, 0, place)
      }
      return (connection.index, connection.store.ordersRowsByReference ? row.rawValue : 0, place)
    }
    models = keys.sorted { $0 < $1 }.map { models[$0.place] }
  }

  /// Counts the models that match, of all stores.
  ///
  /// - Returns: `nil` if they must be fetched.
  func count<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    inEachOf connections: [StoreConnection]
  ) throws -> Int? {
    if pendingModels(descriptor) != nil { return nil }
    var request = descriptor
    request.sortBy = []
    request.fetchOffset = nil
    request.fetchLimit = nil
    var count = 0
    for connection in connections {
      guard let found = try connection.store.fetchCount(request, for: editingState) else {
        return nil
      }
      count += found
    }
    return FetchSlice(descriptor).count(of: count)
  }
}

extension FetchDescriptor {
  /// The number of models, in order, up to the last that is wanted; `nil` for all.
  fileprivate var end: Int? {
    guard let fetchLimit, fetchLimit > 0 else { return nil }
    let (end, overflow) = fetchLimit.addingReportingOverflow(max(fetchOffset ?? 0, 0))
    return overflow ? nil : end
  }
}
