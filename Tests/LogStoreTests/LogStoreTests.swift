import DataStoreTesting
import SwiftData
import Testing

@Suite struct `A log store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract on disk`(clause: DataStoreContract.Clause) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "contract.store")
    try clause.check { LogStoreConfiguration(url: url, durability: .relaxed) }
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
}
