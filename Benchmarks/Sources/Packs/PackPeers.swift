import Foundation
import Harness
import LogEngine
import PeerStores
import RowFormat

/// The sizes of the same rows in peers, each compacted by its own means.
struct PackPeers {
  let folder: URL

  /// A peer and the size of its files for each row.
  struct Size {
    let contender: Contender
    let settings: String
    let bytesPerRow: Double
  }

  /// Puts the rows of a table into every peer, and weighs the files.
  ///
  /// Key-value peers are given the rows as the engine's log has them: otherwise a coding of ours would be
  /// measured.
  ///
  /// - Parameter source: The rows.
  /// - Returns: A size for each peer that is installed.
  /// - Throws: What a peer throws.
  func sizes(_ source: PackSource) throws -> [Size] {
    var sizes: [Size] = []
    #if SQLITE
    let place = folder.appending(path: "sqlite")
    let rows = try SQLiteRows(place, source.table, source.layout)
    try rows.inTransaction {
      try source.engine.scan(source.table.number) { key, _, row in
        try rows.insert(row, key: key)
        return .proceed
      }
    }
    try rows.compactAndClose()
    sizes.append(try size(.sqlite, "\(SQLiteRows.settings), VACUUM", place, source))
    #endif
    for peer in RowPeer.installed {
      let place = folder.appending(path: peer.contender.rawValue)
      let store = try peer.open(place)
      try fill(store, source)
      let remark = try store.compact() ? "compacted" : "loaded in order of keys"
      try store.close()
      sizes.append(try size(peer.contender, "\(peer.settings), \(remark)", place, source))
    }
    return sizes
  }

  private func fill(_ store: any RowStore, _ source: PackSource) throws {
    var rows: [KeyedRow] = []
    try source.engine.scan(source.table.number) { key, _, row in
      rows.append(KeyedRow(key: key, bytes: row.withUnsafeBytes { Array($0) }))
      if rows.count == 10_000 {
        try store.insert(rows)
        rows.removeAll(keepingCapacity: true)
      }
      return .proceed
    }
    try store.insert(rows)
  }

  private func size(
    _ contender: Contender,
    _ settings: String,
    _ place: URL,
    _ source: PackSource
  ) throws -> Size {
    let bytes = try allocatedBytes(in: place)
    return Size(
      contender: contender,
      settings: settings,
      bytesPerRow: Double(bytes) / Double(source.rowCount)
    )
  }
}
