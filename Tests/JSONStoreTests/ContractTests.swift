import DataStoreTesting
import Foundation
import JSONStore
import SwiftData
import Testing

@Suite struct `A JSON store` {
  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "contract.json")
    let copy = folder.url.appending(path: "killed.json")
    try clause.check(
      unsupported: [
        .history: "the file holds what is, not what was",
        .batching: "a delete rewrites the file as any save does",
        .closing: "nothing stays open between two calls",
        .contexts: "a save writes each model whole, and the last one wins",
        .concurrentUniqueness: "a context looks for a unique value before it saves, not while",
      ],
      killed: {
        try FileManager.default.copyItem(at: file, to: copy)
        return JSONStoreConfiguration(name: "contract", url: copy)
      }
    ) {
      JSONStoreConfiguration(name: "contract", url: file)
    }
  }
}
