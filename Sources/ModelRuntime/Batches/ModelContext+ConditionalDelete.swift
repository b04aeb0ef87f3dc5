package import RowFormat

extension ModelContext {
  /// Deletes rows with their delete rules, as long as they still pass a test when the commit replaces them.
  ///
  /// Objects are made only where a rule needs them, in contexts of their own. A row stays if a rule denies its delete, or if
  /// a model related to it would not be valid without it; the others are deleted all the same.
  ///
  /// The store must respect a ``DeletionCondition``.
  ///
  /// - Parameters:
  ///   - rows: The rows, which were found earlier. Rows deleted since by others are left out.
  ///   - type: Their class, or a superclass.
  ///   - store: The name of the store that has them, in its models' identifiers.
  ///   - test: The condition, about attributes of that class.
  /// - Returns: The numbers of deleted and kept rows.
  /// - Throws: An error of the store. Earlier commits stay.
  /// - Complexity: One commit for all rows where no object is needed, otherwise one for each hundred; each row that stays
  ///   costs a few attempts with ever fewer rows beside it.
  package func delete(
    _ rows: [RowReference],
    of type: any PersistentModel.Type,
    in store: String,
    thatStillMeet test: QueryExpression
  ) throws -> ConditionalDeletion {
    try checked {
      let connection = coordinator.connections.first { $0.identifier == store }
      var deleting = ConditionalDelete(test, try BatchRun(self, of: type, in: connection))
      defer { editingState.deletions = nil }
      try deleting.delete(rows)
      return deleting.result
    }
  }
}

/// The result of deleting rows under a condition.
package struct ConditionalDeletion: Sendable {
  /// Number of deleted rows, including those that a delete rule removed.
  package fileprivate(set) var deletedCount = 0
  /// Number of rows that a relationship keeps.
  package fileprivate(set) var keptCount = 0
  /// The reason the last of them stays.
  package fileprivate(set) var denial: SwiftDataError?
  /// Number of commits.
  package fileprivate(set) var commitCount = 0
}

/// A delete of rows under a condition that is under way.
private struct ConditionalDelete {
  /// Number of objects deleted in one save: few, since concurrent saves that write lists wait for it.
  private static let objectCount = 100

  private let test: QueryExpression
  private var run: BatchRun
  private(set) var result = ConditionalDeletion()

  init(_ test: QueryExpression, _ run: BatchRun) {
    self.test = test
    self.run = run
  }

  mutating func delete(_ rows: [RowReference]) throws {
    if run.connection.deletesRows(of: run.descriptor) {
      do {
        return try deleteRows(rows)
      } catch is DanglingReferences {
        // Some rows are referred to: their rules are followed by objects.
      }
    }
    for start in stride(from: 0, to: rows.count, by: Self.objectCount) {
      try deleteObjects(Array(rows[start..<min(start + Self.objectCount, rows.count)]))
    }
  }

  /// Deletes rows in one commit, without objects.
  ///
  /// - Throws: `DanglingReferences` if rows refer to one of them.
  private mutating func deleteRows(_ rows: [RowReference]) throws {
    let (context, connection) = (run.context, run.connection)
    var left = rows
    while !left.isEmpty {
      context.editingState.deletions = DeletionCondition(test, of: left)
      do {
        try run.commit { sink in
          for row in left { sink.delete(row) }
          var saved = SavedRows(connectionIndex: connection.index)
          saved.deleted = left
          return saved
        }
        return count(left.count)
      } catch let renewed as RenewedRows {
        left.removeAll(in: renewed.rows)
      } catch let vanished as VanishedRow {
        left = try run.rows(leftOf: left, after: vanished)
      }
    }
  }

  /// Deletes the objects of rows in one save, or, where one of them must stay, in several.
  private mutating func deleteObjects(_ rows: [RowReference]) throws {
    var left = rows
    while !left.isEmpty {
      let worker = run.context.makeSibling()
      worker.editingState.deletions = DeletionCondition(test, of: left)
      do {
        let deleted = try worker.markRowsDeleted(left, in: run.connection)
        if deleted == 0 { return }
        try worker.save()
        return count(deleted)
      } catch let renewed as RenewedRows {
        worker.rollback()
        left.removeAll(in: renewed.rows)
      } catch let denial as SwiftDataError where denial == .modelValidationFailure {
        worker.rollback()
        guard left.count > 1 else {
          result.keptCount += 1
          result.denial = denial
          return
        }
        // Halving finds the object in the way: the error may name a model that a cascade led to.
        let middle = left.count / 2
        try deleteObjects(Array(left[..<middle]))
        return try deleteObjects(Array(left[middle...]))
      }
    }
  }

  private mutating func count(_ deletedCount: Int) {
    result.deletedCount += deletedCount
    result.commitCount += 1
  }
}

extension ModelContext {
  /// Marks the objects of rows, and those their rules reach, as deleted in the next save.
  ///
  /// - Returns: The number of marked objects.
  fileprivate func markRowsDeleted(
    _ rows: [RowReference],
    in connection: StoreConnection
  ) throws -> Int {
    for row in try connection.store.rows(at: rows, for: editingState) {
      guard let row, let model = model(for: row, in: connection), !model._$state.isDeleted else {
        continue
      }
      DeletePropagation.delete(model, from: self)
    }
    return deleted.count
  }
}

extension [RowReference] {
  fileprivate mutating func removeAll(in others: [RowReference]) {
    let others = Set(others)
    removeAll { others.contains($0) }
  }
}
