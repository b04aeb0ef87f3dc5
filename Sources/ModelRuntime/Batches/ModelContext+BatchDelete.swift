public import Foundation
import RowFormat

extension ModelContext {
  /// Deletes the models that match, with their delete rules, commits that, and returns their identifiers.
  ///
  ///     let gone = try context.batchDelete(Flight.self, where: #Predicate { $0.year < 2010 }).deletedIdentifiers
  ///
  /// Unlike ``delete(model:where:includeSubclasses:)`` this does not wait for ``save()``, and makes objects only if a
  /// rule needs them: none for classes without relationships, or whose relationships are nullified and found from their
  /// other end, as long as nothing is related to the rows. The stored rows are tested: unsaved changes of the context do
  /// not count. A batch cannot be undone.
  ///
  /// - Parameters:
  ///   - model: The class; models of subclasses are deleted, too.
  ///   - predicate: The condition that the models meet; `nil` matches all.
  ///   - step: The number of models per commit, at least one; all in one commit if `nil`. Commits made before an error stay.
  /// - Returns: The number of deleted models, and their identifiers, including those that a delete rule removed.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if a rule denies the delete.
  @discardableResult
  public func batchDelete<T: PersistentModel>(
    _ model: T.Type,
    where predicate: Predicate<T>? = nil,
    commitEvery step: Int? = nil
  ) throws -> BatchResult {
    try checked {
      try BatchRun.inEachStore(of: self, where: predicate) { run in
        try run.delete(where: predicate, commitEvery: max(step ?? .max, 1))
      }
    }
  }
}

extension BatchRun {
  fileprivate mutating func delete<T: PersistentModel>(
    where predicate: Predicate<T>?,
    commitEvery step: Int
  ) throws {
    if connection.store.keepsRows, connection.deletesRows(of: descriptor) {
      do {
        for table in try rows(FetchDescriptor(predicate: predicate)).tables {
          var start = 0
          while start < table.rows.count {
            let end = table.rows.count - start > step ? start + step : table.rows.count
            try delete(Array(table.rows[start..<end]))
            start = end
          }
        }
        return
      } catch is DanglingReferences {
        // Some rows are referred to: their rules are followed by objects.
      }
    }
    try throughObjects(predicate, step) { model, worker in worker.delete(model) }
  }

  /// Deletes some rows in one commit; rows deleted by others meanwhile are left out.
  fileprivate mutating func delete(_ rows: [RowReference]) throws {
    var rows = rows
    var strangers: Set<RowReference> = []
    let index = connection.index
    while !rows.isEmpty {
      do {
        return try commit { sink in
          var saved = SavedRows(connectionIndex: index)
          for row in rows { sink.delete(row) }
          saved.deleted = rows
          return saved
        }
      } catch let vanished as VanishedRow {
        let left = try self.rows(leftOf: rows, after: vanished)
        // A row that was only to be written along is looked up once more.
        guard left.count < rows.count || strangers.insert(vanished.reference).inserted else {
          throw error(vanished)
        }
        rows = left
      }
    }
  }
}

extension StoreConnection {
  /// Whether rows of a class can be deleted without inspecting related rows, except for references that the
  /// store finds by itself.
  func deletesRows(of type: ModelDescriptor) -> Bool {
    descriptors.allSatisfy { descriptor in
      guard descriptor.isKind(of: type) else { return true }
      return descriptor.relationships.allSatisfy { property in
        let isFollowed = property.deleteRule == .cascade || property.deleteRule == .deny
        let isInList = property.inverse?.isStoredList ?? false
        return !isFollowed && !property.isStoredList && !isInList
      }
    }
  }
}
