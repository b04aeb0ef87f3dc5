#if PostgreSQL
import Foundation
import Synchronization

/// The transaction in which a namespace is migrated, lent to the code of its stages.
final class MigrationTransaction: Sendable {
  let connection: Connection
  /// Tells the migration from the stores that are open.
  let source = UUID()
  private let changeCount = Mutex(0)

  init(_ connection: Connection) { self.connection = connection }

  /// The number that the first of some changes gets within the transaction.
  func reserveOrdinals(_ count: Int) -> Int {
    changeCount.withLock { number in
      defer { number += count }
      return number
    }
  }

  /// Runs code to which the session is one like any other, while the transaction continues.
  ///
  /// - Throws: What the code throws.
  func lend<R>(_ body: () throws -> R) throws -> R {
    connection.nesting = Nesting()
    defer { connection.nesting = nil }
    return try body()
  }
}
#endif
