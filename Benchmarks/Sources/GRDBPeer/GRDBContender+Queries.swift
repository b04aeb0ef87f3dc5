public import Foundation
import Harness
import Workloads

#if GRDB
import GRDB

extension GRDBContender {
  /// Those who ask questions, of a database that SQLite's contender has filled.
  ///
  /// - Parameters:
  ///   - file: The database.
  ///   - remark: A remark about it, on indexes for instance.
  /// - Returns: GRDB with Codable records, and with records written by hand.
  /// - Throws: What GRDB throws.
  public static func queries(_ file: URL, remark: String = "") throws -> [Querying] {
    let pool = try GRDBStore.open(file, .normal)
    return [
      querying(.grdb, pool, CodableTrip.self, "Codable\(remark)"),
      querying(.grdbByHand, pool, HandWrittenTrip.self, "columns by hand\(remark)"),
    ]
  }

  private static func querying<Stored: FetchableRecord & TableRecord & TripAttributes>(
    _ contender: Contender,
    _ pool: DatabasePool,
    _ type: Stored.Type,
    _ remark: String
  ) -> Querying {
    Querying(
      contender: contender,
      settings: "\(GRDBStore.settings), query interface, \(remark)",
      count: { destination, rating in
        try pool.read { database in
          let isWanted = Column("destination") == destination && Column("rating") > rating
          return try Stored.filter(isWanted).fetchCount(database)
        }
      },
      readEarliest: { count in
        try pool.read { try Stored.order(Column("startDate")).limit(count).fetchAll($0) }
          .reduce(0) { $0 + $1.checksum }
      },
      readFirst: { count in
        try pool.read { try Stored.order(Column("id")).limit(count).fetchAll($0) }
          .reduce(0) { $0 + $1.checksum }
      }
    )
  }
}
#else
extension GRDBContender {
  public static func queries(_ file: URL, remark: String = "") throws -> [Querying] { [] }
}
#endif
