#if GRDB
import Foundation
import GRDB
import Workloads

/// Makes records of one kind and inserts them in one transaction.
final class GRDBSaver<Stored: PersistableRecord>: TripSaver {
  private let pool: DatabasePool
  private let make: (TripRecord) -> Stored

  init(_ pool: DatabasePool, _ make: @escaping (TripRecord) -> Stored) {
    self.pool = pool
    self.make = make
  }

  func save(_ records: ArraySlice<TripRecord>) throws {
    try pool.write { database in
      for record in records { try make(record).insert(database) }
    }
  }
}
#endif
