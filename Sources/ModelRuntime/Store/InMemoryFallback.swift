import Foundation

/// The context's fallback if a store declines to filter or sort.
enum InMemoryFallback {
  /// Fetches; if the store declines, fetches again with a smaller request.
  ///
  /// A store that declines the predicate is asked for everything, without limit and offset, because
  /// neither means anything before the filter; the same holds for a declined sort.
  static func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    using fetch: (FetchDescriptor<T>) throws -> [FetchedRow]
  ) throws -> FetchAnswer {
    do {
      return .init(rows: try fetch(descriptor))
    } catch DataStoreError.preferInMemoryFilter {
      var rest = descriptor
      rest.predicate = nil
      rest.sortBy = []
      rest.fetchLimit = nil
      rest.fetchOffset = nil
      return .init(
        rows: try fetch(rest),
        needsFilter: descriptor.predicate != nil,
        needsSort: !descriptor.sortBy.isEmpty
      )
    } catch DataStoreError.preferInMemorySort {
      var rest = descriptor
      rest.sortBy = []
      rest.fetchLimit = nil
      rest.fetchOffset = nil
      do {
        return .init(rows: try fetch(rest), needsSort: true)
      } catch DataStoreError.preferInMemoryFilter {
        rest.predicate = nil
        return .init(rows: try fetch(rest), needsFilter: true, needsSort: true)
      }
    }
  }

  /// Asks the store for a number or for identifiers, or returns `nil` if it declines.
  static func answer<R>(_ ask: () throws -> R) throws -> R? {
    do {
      return try ask()
    } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
      return nil
    }
  }
}
