import Synchronization

/// One container's use of an open store, which others may have, too.
///
/// The store is closed, and its closing waited for, when the last lease of it ends.
final class StoreLease: Sendable {
  let tables: TableStore
  private let hasEnded = Atomic<Bool>(false)
  private let onEnd: @Sendable (TableStore) throws -> Void

  /// Makes the lease of a store that others may have, too.
  ///
  /// - Parameters:
  ///   - tables: The store.
  ///   - onEnd: Called once.
  init(_ tables: TableStore, onEnd: @escaping @Sendable (TableStore) throws -> Void) {
    self.tables = tables
    self.onEnd = onEnd
  }

  /// Makes the only lease of a store.
  convenience init(_ tables: TableStore) {
    self.init(tables) { try $0.close(.containerClosed) }
  }

  deinit { try? end() }

  /// Ends the lease, and the store, if it was the last.
  ///
  /// - Throws: ``LogStoreError`` if the store could not be brought to its end.
  func end() throws {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    try onEnd(tables)
  }

  /// The store, for as long as it may be used.
  ///
  /// - Throws: ``SwiftDataError/storeClosed`` afterwards, saying why.
  func openTables() throws -> TableStore {
    try tables.checkOpen()
    if hasEnded.load(ordering: .acquiring) {
      throw StoreEnd.containerClosed.error(path: tables.path)
    }
    return tables
  }
}
