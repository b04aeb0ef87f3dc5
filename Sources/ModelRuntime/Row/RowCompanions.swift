import RowFormat

/// The rows of one answer of a store, in order: a request for one of them also fetches for its neighbours.
///
/// Only remote stores have them (see ``SiblingLoadingStore``).
final class RowCompanions {
  let references: [RowReference]
  private lazy var positions = Dictionary(
    references.enumerated().map { ($1, $0) },
    uniquingKeysWith: { first, _ in first }
  )
  private var batches: [RelationshipName: SiblingBatch] = [:]

  init(_ references: [RowReference]) { self.references = references }

  /// Begins another batch of a relationship's targets.
  ///
  /// - Returns: The batch, and the rows of the same class around the one whose relationship is read.
  func beginBatch(
    of relationship: RelationshipName,
    around reference: RowReference
  ) -> (batch: SiblingBatch, references: [RowReference]) {
    let batch = SiblingBatch(after: batches[relationship])
    batches[relationship] = batch
    guard let position = positions[reference] else { return (batch, [reference]) }
    // Chunks have fixed borders: whatever the order of visits, none is requested twice.
    let start = position / batch.size * batch.size
    let chunk = references[start..<min(start + batch.size, references.count)]
    return (batch, chunk.filter { $0.table == reference.table })
  }
}

/// A relationship of the rows of one table.
struct RelationshipName: Hashable {
  let table: UInt16
  let ordinal: Int
}

/// A batch of rows read for the siblings of a row, with the number of those that were used.
///
/// Fetches and saves invalidate it, so a program that fetches between one model and the next would read everything
/// for each of them: after unused batches the size shrinks, down to one, and after used ones it grows.
final class SiblingBatch {
  private static let firstSize = 256
  private static let sizeLimit = 4096

  let size: Int
  private var count = 0
  private var usedCount = 0

  init(after former: SiblingBatch?) {
    guard let former else {
      size = SiblingBatch.firstSize
      return
    }
    let wasWanted = 2 * former.usedCount >= former.count
    size = wasWanted ? min(former.size * 4, SiblingBatch.sizeLimit) : max(former.size / 4, 1)
  }

  func add(_ count: Int) { self.count += count }
  func use(_ count: Int) { usedCount += count }
}
