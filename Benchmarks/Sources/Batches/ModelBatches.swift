import Foundation
import SwiftData

/// Batches of a new context on a LogStore.
final class ModelBatches: BatchStore {
  private let container: ModelContainer

  init(_ folder: URL) throws {
    container = try ModelContainer(
      for: Parcel.self,
      Account.self,
      configurations: LogStoreConfiguration(url: folder, durability: .relaxed)
    )
  }

  private var context: ModelContext { ModelContext(container) }

  func insert(_ parcels: Parcels) throws {
    _ = try context.batchInsert(
      Parcel.self,
      \.route,
      \.weight,
      \.price,
      \.sent,
      \.batch,
      rows: parcels
    )
  }

  func update() throws -> Int {
    try context.batchUpdate(
      Parcel.self,
      where: #Predicate { $0.batch == 0 && $0.route < "route 2" },
      .add(1, to: \.weight)
    ).updatedCount
  }

  func upsert(_ accounts: [(String, String, Int)]) throws {
    _ = try context.batchUpsert(Account.self, \.address, \.name, \.visits, rows: accounts)
  }

  func delete(batch: Int) throws -> Int {
    try context.batchDelete(Parcel.self, where: #Predicate { $0.batch == batch }).deletedCount
  }

  func check() throws -> [Int] {
    let (count, weight) = try context.aggregate(
      FetchDescriptor<Parcel>(),
      .count,
      .sum(\.weight)
    )
    return [count, weight, try context.fetchCount(FetchDescriptor<Account>())]
  }
}
