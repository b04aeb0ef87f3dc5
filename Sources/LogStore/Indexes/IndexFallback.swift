import Locking
import LogEngine

/// The file of an index turned out to be damaged, or cannot be read: the index has to be made from the rows.
struct DamagedIndexFile: Error {
  let file: SecondaryIndexFile
  let cause: any Error
}

/// The entries of an index as of a view, made by a scan should the file they are read from be damaged.
///
/// So a fetch that meets the damage on its way continues with the same entries.
final class IndexFallback: Sendable {
  private let definition: IndexDefinition
  private let view: ReadView
  private let store: any IndexedStore
  private let scanned = Lock<OrderedKeys?>(nil, .indexFallback)

  init(_ definition: IndexDefinition, as view: ReadView, in store: any IndexedStore) {
    self.definition = definition
    self.view = view
    self.store = store
  }

  /// The entries.
  ///
  /// - Throws: What reading the tables throws.
  /// - Complexity: O(rows) the first time.
  func keys(insteadOf damage: DamagedIndexFile) throws -> OrderedKeys {
    if let known = scanned.withLock({ $0 }) { return known }
    store.reportDamage(damage.cause)
    guard case .ordered(let keys) = try IndexContent(definition, of: view, in: store) else {
      preconditionFailure("an index of unique keys has no order")
    }
    scanned.withLock { $0 = keys }
    return keys
  }
}
