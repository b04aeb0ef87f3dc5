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

@Model
final class Song {
  var title: String
  init(title: String) { self.title = title }
}

@Test func `a JSON store opens like any other`() throws {
  let folder = try TestFolder()
  let file = folder.url.appending(path: "songs.json")
  let configuration = JSONStoreConfiguration(name: "songs", url: file)
  let container = try ModelContainer(for: Song.self, configurations: configuration)
  let context = ModelContext(container)
  context.insert(Song(title: "Fado"))
  try context.save()
  #expect(try ModelContext(container).fetchCount(FetchDescriptor<Song>()) == 1)
}
