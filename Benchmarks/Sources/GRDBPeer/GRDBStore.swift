#if GRDB
import Foundation
import GRDB

/// A GRDB pool with the table of trips.
enum GRDBStore {
  static let settings = "GRDB 7.10, DatabasePool (WAL), cache_size 256 MiB"

  /// Opens a database, or makes it.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - durability: The event that a commit waits for.
  /// - Returns: The pool.
  /// - Throws: What GRDB throws.
  static func open(_ file: URL, _ durability: GRDBDurability) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -262144") }
    let pool = try DatabasePool(path: file.path, configuration: configuration)
    // Only now: opening a pool sets NORMAL, whatever the preparation said.
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
      try database.create(table: "trip", options: .ifNotExists) { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("name", .text).notNull()
        table.column("destination", .text).notNull()
        table.column("startDate", .double).notNull()
        table.column("endDate", .double).notNull()
        table.column("rating", .integer).notNull()
        table.column("isFavorite", .boolean).notNull()
        table.column("note", .text).notNull()
        table.column("tag", .text)
      }
    }
    return pool
  }
}
#endif
