import RowFormat

/// The result of a batch.
public struct BatchResult: Sendable {
  private let origins: [UInt16: IdentifierOrigin]
  private let inserted: [RowReference]
  private let updated: [RowReference]
  private let deleted: [RowReference]
  /// Number of commits; 0 if there was nothing to do.
  public let commitCount: Int

  /// Number of inserted models.
  public var insertedCount: Int { inserted.count }
  /// Number of updated models.
  public var updatedCount: Int { updated.count }
  /// Number of deleted models, including those that a delete rule removed.
  public var deletedCount: Int { deleted.count }

  /// The identifiers of inserted models, in the order of their rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var insertedIdentifiers: [PersistentIdentifier] { identifiers(of: inserted) }
  /// The identifiers of updated models, in the order of their rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var updatedIdentifiers: [PersistentIdentifier] { identifiers(of: updated) }
  /// The identifiers of deleted models, including those that a delete rule removed.
  ///
  /// - Complexity: O(*n*), each time.
  public var deletedIdentifiers: [PersistentIdentifier] { identifiers(of: deleted) }

  init(_ rows: SavedRows, in connection: StoreConnection, commitCount: Int) {
    inserted = rows.inserted
    updated = rows.updated
    deleted = rows.deleted
    self.commitCount = commitCount
    // The origins, and not the connection, which would keep the store open.
    var origins: [UInt16: IdentifierOrigin] = [:]
    for list in [inserted, updated, deleted] {
      var last: UInt16?
      // Rows of one table mostly come together, so the dictionary is consulted only when the table changes.
      for row in list where row.table != last {
        last = row.table
        if origins[row.table] == nil {
          origins[row.table] = connection.identifier(of: row)?.id.origin
        }
      }
    }
    self.origins = origins
  }

  private func identifiers(of rows: [RowReference]) -> [PersistentIdentifier] {
    rows.compactMap { row in
      origins[row.table].map { PersistentIdentifier(origin: $0, key: row.key) }
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
