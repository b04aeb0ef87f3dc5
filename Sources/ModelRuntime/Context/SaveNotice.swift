import Foundation

/// The content of a save's notification: the inserted, updated and deleted objects.
struct SaveNotice {
  private var inserted: [PersistentIdentifier] = []
  private var updated: [PersistentIdentifier] = []
  private var deleted: [PersistentIdentifier] = []
  private var tokens: [String: any HistoryToken] = [:]

  /// Adds the rows written to one store.
  mutating func add(_ save: StoreSave) {
    inserted += save.connection.identifiers(of: save.changes.inserted)
    updated += save.connection.identifiers(of: save.changes.updated)
    updated += save.changes.clearedReferences.compactMap { save.connection.identifier(of: $0.row) }
    if !save.derived.isEmpty {
      updated += save.derived.compactMap(save.connection.identifier(of:))
    }
    deleted += save.connection.identifiers(of: save.changes.deleted)
    deleted += save.changes.deletedRows.compactMap(save.connection.identifier(of:))
    if let token = save.token { tokens[save.connection.identifier] = token }
  }

  /// Adds the rows that a batch wrote to a store.
  mutating func add(
    _ rows: SavedRows,
    _ token: (any HistoryToken)?,
    in connection: StoreConnection
  ) {
    inserted += rows.inserted.compactMap(connection.identifier(of:))
    updated += rows.updated.compactMap(connection.identifier(of:))
    deleted += rows.deleted.compactMap(connection.identifier(of:))
    if let token { tokens[connection.identifier] = token }
  }

  /// The identifiers under their keys; empty lists have no key.
  var userInfo: [AnyHashable: Any] {
    let lists = [inserted, updated, deleted]
    var number = 0
    for place in lists.indices where !lists[place].isEmpty { number |= 1 << place }
    if !tokens.isEmpty { number |= 1 << lists.count }
    return Self.forms[number].filled(with: lists, tokens)
  }

  /// A form for each combination of non-empty lists.
  private static let forms = (0..<16).map(Form.init)
}

/// The dictionary of a notification, still without identifiers.
///
/// Hashing the keys would be most of the cost of a small save, so it is done once: a dictionary is copied, and
/// its values are replaced in place.
///
/// Unchecked, because its keys and empty values are constants, which are sendable although `Any` is not.
private struct Form: @unchecked Sendable {
  private let empty: [AnyHashable: Any]
  private let places: [(index: Dictionary<AnyHashable, Any>.Index, list: Int)]

  /// - Parameter lists: A bit for each list that has keys.
  init(_ lists: Int) {
    let keys: [ModelContext.NotificationKey] = [
      .insertedIdentifiers, .updatedIdentifiers, .deletedIdentifiers, .historyTokens,
    ]
    var empty: [AnyHashable: Any] = [:]
    var owners: [(key: AnyHashable, list: Int)] = []
    for (list, key) in keys.enumerated() where lists & 1 << list != 0 {
      owners += [(AnyHashable(key), list), (AnyHashable(key.rawValue), list)]
    }
    for owner in owners {
      empty[owner.key] =
        owner.list < 3 ? [PersistentIdentifier]() as Any : [String: any HistoryToken]()
    }
    self.empty = empty
    places = owners.compactMap { owner in empty.index(forKey: owner.key).map { ($0, owner.list) } }
  }

  func filled(
    with lists: [[PersistentIdentifier]],
    _ tokens: [String: any HistoryToken]
  ) -> [AnyHashable: Any] {
    var info = empty
    for (index, list) in places {
      info.values[index] = list < lists.count ? lists[list] as Any : tokens
    }
    return info
  }
}

extension StoreConnection {
  /// The identifiers of models that are, or were, in the store.
  fileprivate func identifiers(of models: [any PersistentModel]) -> [PersistentIdentifier] {
    models.map { $0._$state.identifier }
  }
}
