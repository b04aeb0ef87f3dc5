import Foundation
import RowFormat

/// The unsaved models of a class, for a store that answers about rows without returning them: by figures, or by scores.
///
/// The store leaves ``excluded`` rows out, and the context adds the models that match.
struct UnsavedRows<T: PersistentModel> {
  /// The rows that the models, or deleted ones, replace.
  let excluded: ExcludedRows
  private let pending: PendingModels<T>?
  private let connection: StoreConnection

  /// - Parameters:
  ///   - descriptor: The fetch; its order, limit and offset are ignored.
  ///   - context: The context.
  ///   - connection: The store.
  ///   - read: Adds what the store reads of the rows that match.
  init(
    _ descriptor: FetchDescriptor<T>,
    in context: ModelContext,
    _ connection: StoreConnection,
    reading read: @escaping (inout FetchReading) -> Void
  ) {
    var descriptor = descriptor
    descriptor.sortBy = []
    pending =
      descriptor.includePendingChanges
      ? PendingModels(descriptor, in: context, alsoReading: read) : nil
    excluded = pending?.affectedRows(in: connection) ?? ExcludedRows()
    self.connection = connection
  }

  /// Whether there is nothing to add.
  var isEmpty: Bool { pending == nil }

  /// The models that match now: unsaved changes apply on top of stored values.
  ///
  /// - Parameter changeCount: The store's number of changes before it answered; `nil` if it does not count.
  /// - Returns: New and changed models; `nil` if they are no longer those whose rows were left out.
  /// - Throws: An error of evaluating the predicate.
  func matching(readAfter changeCount: UInt64?) throws -> [T]? {
    guard let pending else { return [] }
    pending.refresh(from: connection, readAfter: changeCount)
    let models = try pending.matchingInAnyOrder()
    return pending.isCurrent ? models : nil
  }
}
