import RowFormat

/// What a batch did.
public struct BatchResult: Sendable {
  private let origins: [UInt16: IdentifierOrigin]
  private let inserted: [RowReference]
  private let updated: [RowReference]
  private let deleted: [RowReference]
  /// How many commits it took; none if there was nothing to be done.
  public let commitCount: Int

  /// How many models were inserted.
  public var insertedCount: Int { inserted.count }
  /// How many models were updated.
  public var updatedCount: Int { updated.count }
  /// How many models were deleted, those that a delete rule took along included.
  public var deletedCount: Int { deleted.count }

  /// The identifiers of what was inserted, in the order of the rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var insertedIdentifiers: [PersistentIdentifier] { identifiers(of: inserted) }
  /// The identifiers of what was updated, in the order of the rows.
  ///
  /// - Complexity: O(*n*), each time.
  public var updatedIdentifiers: [PersistentIdentifier] { identifiers(of: updated) }
  /// The identifiers of what was deleted; those that a delete rule took along included.
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
      // Rows of one table mostly come together: a dictionary is asked where another begins.
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
  /// Adds what another commit of the same store did.
  mutating func append(_ other: SavedRows) {
    inserted += other.inserted
    updated += other.updated
    deleted += other.deleted
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
