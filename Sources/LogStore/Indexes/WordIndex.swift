import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The index of the words in a column that `#Index` names, made once searches have cost what making it costs.
///
/// A search through all texts is the faster way to answer the first question, and the index the faster way to answer
/// many. So the first few searches scan, and no program ever pays more than twice what the better way would have cost.
final class WordIndex: Sendable {
  let index: LazyIndex
  let column: Int
  /// Number of searches that have read all texts.
  private let scanCount = Atomic<Int>(0)

  /// Number of scans that cost as much as making the index.
  static let scansBeforeIndex = 16

  init(_ table: UInt16, column: Int, _ hash: TextHash) {
    self.column = column
    index = LazyIndex(.words(table: table, column: column, hash))
  }

  /// The words as of a view.
  ///
  /// - Returns: `nil` if a scan is the better way, or the index is newer than the view.
  /// - Throws: What reading the rows throws, should the index have to be made.
  func words(as view: ReadView, in store: some IndexedStore) throws -> IndexedWords? {
    guard index.isBuilt || store.hasFile(of: index.definition) || isDue else { return nil }
    return try wordsNow(as: view, in: store)
  }

  /// The words as of a view, made if need be.
  ///
  /// - Returns: `nil` if the index is newer than the view.
  func wordsNow(as view: ReadView, in store: some IndexedStore) throws -> IndexedWords? {
    guard case .words(let words)? = try index.content(as: view, in: store) else { return nil }
    return words
  }

  private var isDue: Bool {
    scanCount.add(1, ordering: .relaxed).newValue > WordIndex.scansBeforeIndex
  }
}
