import JSONStore
import SwiftData
import Testing

@Model private final class House {
  var key: Int
  @Relationship(deleteRule: .cascade, inverse: \Roof.house) var roof: Roof?
  init(_ key: Int) { self.key = key }
}

@Model private final class Roof {
  var key: Int
  var house: House?
  init(_ key: Int) { self.key = key }
}

@Suite struct `A one-to-one in a JSON file whose owner is deleted and inserted again` {
  @Test(arguments: [false, true], [false, true])
  func `leads nowhere at either end`(isOtherInserted: Bool, isRead: Bool) throws {
    let folder = try TemporaryFolder()
    let container = try ModelContainer(
      for: Schema([House.self, Roof.self]),
      configurations: [
        JSONStoreConfiguration(name: "houses", url: folder.url.appending(path: "houses.json"))
      ]
    )
    do {
      let context = ModelContext(container)
      let house = House(1)
      context.insert(house)
      house.roof = Roof(2)
      try context.save()
    }
    let context = ModelContext(container)
    let house = try #require(try context.fetch(FetchDescriptor<House>()).first)
    let roof = try #require(try context.fetch(FetchDescriptor<Roof>()).first)
    if isRead { #expect(house.roof === roof && roof.house === house) }
    context.delete(house)
    context.insert(house)
    if isOtherInserted { context.insert(roof) }
    #expect(house.roof == nil && roof.house == nil)
    try context.save()
    #expect(house.roof == nil && roof.house == nil)
    let fresh = ModelContext(container)
    #expect(try fresh.fetch(FetchDescriptor<House>()).map { $0.roof?.key } == [nil])
    let roofs = try fresh.fetch(FetchDescriptor<Roof>())
    #expect(roofs.map { $0.house?.key } == (isOtherInserted ? [nil] : []))
  }
}
