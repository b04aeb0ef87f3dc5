import DataStoreTesting
import Testing

@Suite struct `The smallest custom store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let configuration = MemoryStore.Configuration()
    try clause.check { configuration }
  }
}
