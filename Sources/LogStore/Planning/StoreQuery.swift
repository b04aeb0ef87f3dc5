import Foundation
import ModelRuntime

/// A fetch in the store's own terms.
struct StoreQuery {
  let expression: QueryExpression?
  /// `nil` if the rows are to come in the order of their keys.
  let ordering: RowOrdering?
  let window: FetchWindow
  /// Rows that are left out.
  var excluded: ExcludedRows?
  /// A place in the order up to which all rows that match are left out.
  var start: PagePosition?

  /// Translates a fetch.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for what has to be
  ///   done with objects.
  init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws {
    try self.init(counting: descriptor)
    if descriptor.sortBy.isEmpty { return }
    do {
      self = StoreQuery(
        expression: expression,
        ordering: try RowOrdering(descriptor.sortBy),
        window: window
      )
    } catch {
      throw DataStoreError.preferInMemorySort
    }
  }

  /// Translates a fetch whose rows are counted: their order does not matter.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects.
  init<T: PersistentModel>(counting descriptor: FetchDescriptor<T>) throws {
    do {
      expression =
        try descriptor.translation ?? descriptor.predicate.map { try QueryExpression($0) }
    } catch is Untranslatable {
      throw DataStoreError.preferInMemoryFilter
    }
    ordering = nil
    window = FetchWindow(descriptor)
  }

  private init(expression: QueryExpression?, ordering: RowOrdering?, window: FetchWindow) {
    self.expression = expression
    self.ordering = ordering
    self.window = window
  }
}

/// The range of matching rows that are wanted.
struct FetchWindow {
  let offset: Int
  let limit: Int

  init(offset: Int, limit: Int) {
    self.offset = offset
    self.limit = limit
  }

  /// Whether all rows are wanted.
  var isUnbounded: Bool { offset == 0 && limit == .max }

  init<T>(_ descriptor: FetchDescriptor<T>) {
    offset = max(descriptor.fetchOffset ?? 0, 0)
    limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max
  }

  /// Number of first rows that have to be known; `nil` for all.
  var end: Int? {
    let (end, overflow) = offset.addingReportingOverflow(limit)
    return overflow || limit == .max ? nil : end
  }

  /// Number of rows in the window, if so many match.
  func count(of all: Int) -> Int { min(max(all - offset, 0), limit) }
}
