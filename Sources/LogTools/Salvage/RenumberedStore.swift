import LogEngine
import LogFormat
import RowFormat

/// Translates the facts that a store of models keeps as numbers of commits, for a store that counts its commits from the
/// beginning.
///
/// Places in lists are ranks that are greater than those of all earlier commits; rows keep them, so the new store has to begin
/// after the greatest. And the deleted history is named by commits: those of the new store that only copied rows are none.
struct RenumberedStore {
  /// The keys under which the layer of the models keeps such numbers: see the article on the format.
  private static let rankBaseKey = "rank.base"
  private static let deletedHistoryKey = "history.deleted"
  private static let identifierKey = "store.identifier"
  private static let rankLimit: Int64 = 1 << 62

  /// Whether an entry of the catalogue has numbers that mean nothing in another store.
  static func isNumbered(_ key: String) -> Bool { key == rankBaseKey || key == deletedHistoryKey }

  private let catalogue: Catalogue
  /// The places of ranks among a layout's columns, for the layouts met so far.
  private var rankColumns: [LayoutKey: [Int]] = [:]
  private var greatestRank: Int64 = 0

  private struct LayoutKey: Hashable {
    let table: UInt16
    let layout: LayoutNumber
  }

  init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  /// Records the ranks of a row.
  mutating func recordRanks(
    of row: RawSpan,
    _ reference: RowReference,
    _ number: LayoutNumber,
    _ layout: RowLayout
  ) {
    let key = LayoutKey(table: reference.table, layout: number)
    let columns = rankColumns[key] ?? findRankColumns(of: key)
    rankColumns[key] = columns
    for column in columns where !layout.isNull(column, in: row) {
      let rank = layout.integer(column, in: row)
      // No greater rank was ever allocated: there would be none left after it.
      if rank < Self.rankLimit { greatestRank = max(greatestRank, rank) }
    }
  }

  private func findRankColumns(of key: LayoutKey) -> [Int] {
    guard let table = catalogue.table(key.table), let layout = table.layout(key.layout) else {
      return []
    }
    return layout.columns.indices.filter { index in
      table.columns.contains {
        $0.number == layout.columns[index] && RankColumn.isOne(named: $0.name, $0.type)
      }
    }
  }

  /// Returns the changes that complete the new store's catalogue once all rows are there.
  ///
  /// - Parameter last: Its newest commit.
  /// - Returns: The changes.
  func changes(after last: CommitSequence) -> [CatalogueChange] {
    var changes: [CatalogueChange] = []
    if greatestRank > 0 {
      let base = Array(String(greatestRank + 1).utf8)
      changes.append(.setMetadata(key: Self.rankBaseKey, value: base))
    }
    if catalogue.metadata[Self.identifierKey] != nil {
      // A low-water mark, and no runs above it.
      var value = ByteBuffer()
      value.appendVarint(last.rawValue)
      value.appendVarint(0)
      let bytes = unsafe value.bytes.withUnsafeBytes { unsafe Array($0) }
      changes.append(.setMetadata(key: Self.deletedHistoryKey, value: bytes))
    }
    return changes
  }
}
