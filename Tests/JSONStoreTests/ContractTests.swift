import DataStoreTesting
import JSONStore
import SwiftData
import Testing

@Suite struct `A JSON store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "contract.json")
    try clause.check { JSONStoreConfiguration(name: "contract", url: file) }
  }
}
