import DataStoreTesting
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `A PostgreSQL store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let namespace = try TestNamespace()
    try clause.check(unsupported: [.recovery: "the server's files are not the process's"]) {
      namespace.configuration
    }
  }
}
