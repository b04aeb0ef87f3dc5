import RowFormat

/// The rows that one save has read from a store of snapshots, so that it requests nothing twice.
///
/// Such a store may read a whole file to answer the smallest request. Only the saving context uses it.
final class SaveReads: @unchecked Sendable {
  private var rows: [RowReference: FetchedRow] = [:]
  /// The classes all of whose rows are known.
  private var complete: [ModelDescriptor] = []
  /// The models whose values the store has changed, with the new rows.
  var reregistered: [(model: any PersistentModel, row: FetchedRow)] = []

  func add(_ found: [FetchedRow], of descriptor: ModelDescriptor, isComplete: Bool) {
    for row in found { rows[row.reference] = row }
    if isComplete { complete.append(descriptor) }
  }

  /// The rows with some names; `nil` if the store must be asked.
  func rows(
    _ references: [RowReference],
    of descriptor: ModelDescriptor
  ) -> [RowReference: FetchedRow]? {
    let isComplete = complete.contains(where: descriptor.isKind(of:))
    var found: [RowReference: FetchedRow] = [:]
    for reference in references {
      if let row = rows[reference] {
        found[reference] = row
      } else if !isComplete {
        return nil
      }
    }
    return found
  }

  /// All rows of a class and its subclasses; `nil` if the store must be asked.
  func all(of descriptor: ModelDescriptor, table: (UInt16) -> ModelDescriptor?) -> [FetchedRow]? {
    guard complete.contains(where: descriptor.isKind(of:)) else { return nil }
    return rows.values.filter { table($0.reference.table)?.isKind(of: descriptor) == true }
  }
}
