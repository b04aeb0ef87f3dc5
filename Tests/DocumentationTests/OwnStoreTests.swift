import DataStoreTesting
import Foundation
import JSONStore
import SwiftData
import Testing

// The test of the article Writing a data store; the store it is about is JSONStore itself.

@Suite struct `A store of our own` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let folder = try TestFolder()
    let file = folder.url.appending(path: "contract.json")
    try clause.check { JSONStoreConfiguration(name: "contract", url: file) }
  }
}
