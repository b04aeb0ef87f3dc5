import RowFormat

/// What a context has read of a store for siblings, and not used yet.
///
/// It is as old as the rows of a fetch, and void as soon as the context knows more of the store.
final class SiblingCache {
  private struct ListName: Hashable {
    let owner: RowReference
    let ordinal: Int
  }

  /// The row and the relationship that lead to a row.
  struct Origin {
    let owner: RowReference
    let property: ModelProperty
    let companions: RowCompanions
  }

  private var epoch: UInt32 = 0
  private var lists: [ListName: (members: [RowReference], batch: SiblingBatch)] = [:]
  private var rows: [RowReference: (row: FetchedRow, batch: SiblingBatch)] = [:]
  private var origins: [RowReference: Origin] = [:]

  /// Forgets what is older than what the context knows.
  func keep(only epoch: UInt32) {
    if self.epoch == epoch { return }
    self.epoch = epoch
    removeAll()
  }

  func removeAll() {
    lists = [:]
    rows = [:]
    origins = [:]
  }

  // MARK: Lists

  func hasList(of owner: RowReference, _ property: ModelProperty) -> Bool {
    lists[ListName(owner: owner, ordinal: property.ordinal)] != nil
  }

  func add(
    _ members: [RowReference],
    of owner: RowReference,
    _ property: ModelProperty,
    _ batch: SiblingBatch
  ) {
    batch.add(1)
    lists[ListName(owner: owner, ordinal: property.ordinal)] = (members, batch)
  }

  func takeList(of owner: RowReference, _ property: ModelProperty) -> [RowReference]? {
    let found = lists.removeValue(forKey: ListName(owner: owner, ordinal: property.ordinal))
    found?.batch.use()
    return found?.members
  }

  // MARK: Rows

  func hasRow(_ reference: RowReference) -> Bool { rows[reference] != nil }

  func add(_ row: FetchedRow, _ batch: SiblingBatch) {
    batch.add(1)
    rows[row.reference] = (row, batch)
  }

  func takeRow(_ reference: RowReference) -> FetchedRow? {
    if rows.isEmpty { return nil }
    let found = rows.removeValue(forKey: reference)
    found?.batch.use()
    return found?.row
  }

  func note(_ origin: Origin, of reference: RowReference) { origins[reference] = origin }
  func takeOrigin(of reference: RowReference) -> Origin? {
    origins.removeValue(forKey: reference)
  }
}
