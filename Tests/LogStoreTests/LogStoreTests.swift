import DataStoreTesting
import Foundation
import SwiftData
import Testing

@Suite struct `A log store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract on disk`(clause: DataStoreContract.Clause) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "contract.store")
    let copy = folder.url.appending(path: "killed.store")
    try clause.check(
      killed: {
        try FileManager.default.copyItem(at: url, to: copy)
        return LogStoreConfiguration(url: copy, durability: .relaxed)
      }
    ) {
      LogStoreConfiguration(url: url, durability: .relaxed)
    }
  }

  @Test func `is what a container without a configuration opens`() throws {
    let container = try ModelContainer(
      for: Schema([Ticket.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    #expect(container.configurations.count == 1)
    let context = ModelContext(container)
    context.insert(Ticket("A1", price: 10))
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Ticket>()) == 1)
  }

  @Test func `deletes what a predicate matches when it is asked without a context`() throws {
    let folder = try TemporaryFolder()
    let configuration = LogStoreConfiguration(
      schema: Schema([Ticket.self]),
      url: folder.url.appending(path: "batch.store")
    )
    do {
      let context = ModelContext(
        try ModelContainer(for: Ticket.self, configurations: configuration)
      )
      for price in 1...10 { context.insert(Ticket("A\(price)", price: price)) }
      try context.save()
    }
    do {
      let store = try LogStore(configuration, migrationPlan: nil)
      let state = EditingState(author: "cleaner")
      try store.delete(
        DataStoreBatchDeleteRequest<Ticket>(
          predicate: #Predicate { $0.price > 7 },
          includeSubclasses: true,
          editingState: state
        )
      )
      let all = DataStoreFetchRequest<Ticket>(descriptor: FetchDescriptor(), editingState: state)
      #expect(try store.fetchCount(all) == 7)
    }
    let context = ModelContext(try ModelContainer(for: Ticket.self, configurations: configuration))
    #expect(try context.fetch(FetchDescriptor<Ticket>()).allSatisfy { $0.price <= 7 })
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 7)
  }
}
