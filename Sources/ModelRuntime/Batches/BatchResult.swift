import RowFormat

/// The result of a batch.
public struct BatchResult: Sendable {
  /// The rows of each store.
  private var stores: [StoreRows] = []
  /// Number of commits; 0 if there was nothing to do.
  public private(set) var commitCount = 0

  private struct StoreRows: Sendable {
    let rows: SavedRows
    /// The origins, and not the connection, which would keep the store open.
    let origins: [UInt16: IdentifierOrigin]
  }

  /// Number of inserted models.
  public var insertedCount: Int { stores.reduce(0) { $0 + $1.rows.inserted.count } }
  /// Number of updated models.
  public var updatedCount: Int { stores.reduce(0) { $0 + $1.rows.updated.count } }
  /// Number of deleted models, including those that a delete rule removed.
  public var deletedCount: Int { stores.reduce(0) { $0 + $1.rows.deleted.count } }

  /// The identifiers of inserted models, in the order of their rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var insertedIdentifiers: [PersistentIdentifier] { identifiers { $0.inserted } }
  /// The identifiers of updated models, in the order of their rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var updatedIdentifiers: [PersistentIdentifier] { identifiers { $0.updated } }
  /// The identifiers of deleted models, including those that a delete rule removed.
  ///
  /// - Complexity: O(*n*), each time.
  public var deletedIdentifiers: [PersistentIdentifier] { identifiers { $0.deleted } }

  /// The result of nothing.
  init() {}

  init(_ rows: SavedRows, in connection: StoreConnection, commitCount: Int) {
    self.commitCount = commitCount
    var origins: [UInt16: IdentifierOrigin] = [:]
    for list in [rows.inserted, rows.updated, rows.deleted] {
      var last: UInt16?
      // Rows of one table mostly come together, so the dictionary is consulted only when the table changes.
      for row in list where row.table != last {
        last = row.table
        if origins[row.table] == nil {
          origins[row.table] = connection.identifier(of: row)?.id.origin
        }
      }
    }
    stores = [StoreRows(rows: rows, origins: origins)]
  }

  /// Adds the result in another store.
  mutating func append(_ other: BatchResult) {
    stores += other.stores
    commitCount += other.commitCount
  }

  private func identifiers(
    of list: (SavedRows) -> [RowReference]
  ) -> [PersistentIdentifier] {
    stores.flatMap { store in
      list(store.rows).compactMap { row in
        store.origins[row.table].map { PersistentIdentifier(origin: $0, key: row.key) }
      }
    }
  }
}

extension SavedRows {
  /// Adds the rows of another commit of the same store.
  mutating func append(_ other: SavedRows) {
    inserted += other.inserted
    updated += other.updated
    deleted += other.deleted
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
