import DataStoreTesting
import Testing

@Suite struct `The smallest custom store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let configuration = MemoryStore.Configuration()
    try clause.check(
      unsupported: [
        .history: "a dictionary of what is",
        .batching: "it is asked to save only",
        .closing: "there is nothing to close",
        .recovery: "it is gone with the process",
        .contexts: "a save writes each model whole, and the last one wins",
        .threads: "it has no lock",
        .concurrentUniqueness: "it has no lock",
      ]
    ) {
      configuration
    }
  }
}
