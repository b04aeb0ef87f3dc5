import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `The identifiers of a store of snapshots` {
  @Test func `are not kept for having been asked for`() throws {
    let container = try makeLibrary()
    let connection = try #require(container.coordinator.connections.first)
    let context = ModelContext(container)
    func identifier(_ key: Int) throws -> PersistentIdentifier {
      try .identifier(for: connection.identifier, entityName: "Author", primaryKey: key)
    }
    let author = Author(name: "Calvino")
    context.insert(author)
    try context.save()
    let known = try #require(connection.store.reference(of: author.persistentModelID))
    for key in 1000..<1010 {
      let found: Author? = context.registeredModel(for: try identifier(key))
      #expect(found == nil)
      #expect(connection.store.knownReference(of: try identifier(key)) == nil)
    }
    // References are numbered in the order in which identifiers are kept.
    let next = try #require(connection.store.reference(of: try identifier(2000)))
    #expect(next.key == known.key + 1)
    let registered: Author? = context.registeredModel(for: author.persistentModelID)
    #expect(registered === author)
  }
}
