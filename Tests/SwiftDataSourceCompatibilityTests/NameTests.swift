import Foundation
import SwiftData
import Testing

@Suite struct `Names that an app is free to choose` {
  @Test func `name what the app means`() throws {
    let store = try TestStore(.memory, Root.self, Leaf.self)
    let context = store.makeContext()
    let plant = Plant(context: context)
    try plant.grow((0..<5).map { Leaf($0) })
    try plant.shed([1, 2])
    let leaves = try context.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)]))
    #expect(leaves.map(\.number) == [0, 3])
    let root = try #require(try context.fetch(FetchDescriptor<Root>()).first)
    #expect(root.names == ["first", "second"])
    let entity = try #require(Schema([Root.self]).entitiesByName["Root"])
    let names = try #require(entity.attributesByName["names"])
    #expect(names.defaultValue as? [String] == properties)
    root.leaves = leaves
    try context.save()
    let stored = try #require(try store.makeContext().fetch(FetchDescriptor<Root>()).first)
    #expect(stored.leaves.map(\.number) == [0, 3])
    let address = root.persistentModelID.uriRepresentation()
    #expect(address == URL(string: "app://Root"))
  }
}
