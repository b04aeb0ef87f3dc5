import Foundation
import JSONStore
import SwiftData
import Testing

@Model
private final class Bag {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Coin.bag) var coins: [Coin] = []
  @Derived(.count(\Bag.coins)) var coinCount: Int
  @Derived(.sum(of: \Coin.value, over: \Bag.coins)) var total: Int
  @Derived(.canonical(\Bag.name)) var searchName: String
  @Derived(.modificationDate) var lastModified: Date?
  init(name: String) { self.name = name }
}

@Model
private final class Coin {
  var value: Int
  var mint = ""
  var bag: Bag?
  init(_ value: Int, in bag: Bag?) {
    self.value = value
    self.bag = bag
  }
}

/// Knows when it was changed, and adds nothing up.
@Model
private final class Chest {
  @Relationship(inverse: \Jewel.chest) var jewels: [Jewel] = []
  @Derived(.modificationDate) var lastModified: Date?
  init() {}
}

@Model
private final class Jewel {
  var value: Int
  var chest: Chest?
  init(_ value: Int, in chest: Chest?) {
    self.value = value
    self.chest = chest
  }
}

/// Holds stamps that are known by their names.
@Model
private final class StampAlbum {
  var number: Int
  @Relationship(inverse: \NamedStamp.album) var stamps: [NamedStamp] = []
  @Derived(.sum(of: \NamedStamp.value, over: \StampAlbum.stamps)) var total: Int
  init(number: Int) { self.number = number }
}

@Model
private final class NamedStamp {
  @Attribute(.unique) var name: String
  var value: Int
  var album: StampAlbum?
  init(_ name: String, _ value: Int) {
    self.name = name
    self.value = value
  }
}

@Suite struct `Derived attributes in a store of snapshots` {
  /// The new model takes the row of one that the owner's list shows.
  @Test(arguments: [false, true], [nil, 500] as [Int?])
  func `count a new model that a save merges into a member`(isRead: Bool, changed: Int?) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([StampAlbum.self, NamedStamp.self]),
      configurations: [JSONStoreConfiguration(name: "s", url: folder.appending(path: "s.json"))]
    )
    let first = ModelContext(container)
    let stamp = NamedStamp("a", 1)
    stamp.album = StampAlbum(number: 1)
    first.insert(stamp)
    try first.save()
    let context = ModelContext(container)
    let albums = try context.fetch(FetchDescriptor<StampAlbum>())
    if isRead { #expect(albums.map(\.stamps.count) == [1]) }
    if let changed {
      try context.fetch(FetchDescriptor<NamedStamp>()).first?.value = changed
    }
    context.insert(NamedStamp("a", 5))
    try context.save()
    for context in [context, ModelContext(container)] {
      let album = try #require(try context.fetch(FetchDescriptor<StampAlbum>()).first)
      #expect(album.stamps.map(\.value) == [5])
      #expect(album.total == 5)
    }
    withExtendedLifetime(albums) {}
  }

  @Test func `are computed by the context that saves`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Bag.self, Coin.self]),
      configurations: [JSONStoreConfiguration(name: "bags", url: folder.appending(path: "b.json"))]
    )
    func stored() throws -> [Int] {
      let bag = try #require(try ModelContext(container).fetch(FetchDescriptor<Bag>()).first)
      return [bag.coinCount, bag.total]
    }
    let context = ModelContext(container)
    let bag = Bag(name: "Äpfel")
    context.insert(bag)
    let coins = [1, 2].map { Coin($0, in: bag) }
    for coin in coins { context.insert(coin) }
    try context.save()
    #expect(bag.coinCount == 2 && bag.total == 3)
    #expect(bag.searchName == "apfel" && bag.lastModified != nil)
    #expect(try stored() == [2, 3])
    coins[0].value = 10
    try context.save()
    #expect(try stored() == [2, 12])
    context.delete(coins[1])
    try context.save()
    #expect(try stored() == [1, 10])
    #expect(bag.total == 10)
    // What another context has added is counted, and stays.
    let other = ModelContext(container)
    let copy = try #require(try other.fetch(FetchDescriptor<Bag>()).first)
    #expect(copy.coins.count == 1)
    context.insert(Coin(5, in: bag))
    try context.save()
    other.insert(Coin(7, in: copy))
    try other.save()
    let last = try #require(try ModelContext(container).fetch(FetchDescriptor<Bag>()).first)
    #expect(last.coins.count == 3)
    #expect(last.coinCount == 3 && last.total == 22)
  }

  @Test func `stay where a member's change concerns none of them`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Bag.self, Coin.self, Chest.self, Jewel.self]),
      configurations: [JSONStoreConfiguration(name: "bags", url: folder.appending(path: "b.json"))]
    )
    let context = ModelContext(container)
    let (bag, chest) = (Bag(name: "b"), Chest())
    let (coin, jewel) = (Coin(1, in: bag), Jewel(1, in: chest))
    for model in [bag, chest, coin, jewel] as [any PersistentModel] { context.insert(model) }
    try context.save()
    let dates = (bag.lastModified, chest.lastModified)
    #expect(dates.0 != nil && dates.1 != nil)
    jewel.value = 2
    coin.mint = "Rome"
    coin.value = 1
    try context.save()
    #expect((bag.lastModified, chest.lastModified) == dates)
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Chest>()).map(\.lastModified) == [dates.1])
    coin.value = 2
    try context.save()
    #expect(bag.total == 2)
    #expect(bag.lastModified != dates.0 && chest.lastModified == dates.1)
  }

  /// Stores bags of a unique name, and changes a coin in the save in which a new bag turns out to be a stored one.
  @Test func `are right where the same save merges a new model into a stored one`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Purse.self, Penny.self]),
      configurations: [JSONStoreConfiguration(name: "p", url: folder.appending(path: "p.json"))]
    )
    let context = ModelContext(container)
    let (first, second) = (Purse("a"), Purse("b"))
    context.insert(first)
    context.insert(second)
    let penny = Penny(13)
    second.pennies = [penny]
    try context.save()
    #expect(second.total == 13)
    penny.value = 0
    context.insert(Purse("a"))
    try context.save()
    let purses = try ModelContext(container).fetch(
      FetchDescriptor<Purse>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(purses.map(\.name) == ["a", "b"])
    #expect(purses.map(\.total) == [0, 0])
    #expect(purses.map { $0.pennies.map(\.value) } == [[], [0]])
  }

  /// One context saves a name, another one with the former name in memory saves something else of the same model.
  @Test func `canonical texts are those of the texts that are saved`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Purse.self, Penny.self, Bag.self, Coin.self]),
      configurations: [JSONStoreConfiguration(name: "p", url: folder.appending(path: "p.json"))]
    )
    let (mine, other) = (ModelContext(container), ModelContext(container))
    let saved = Purse("Old")
    other.insert(saved)
    try other.save()
    let purse = try #require(try mine.fetch(FetchDescriptor<Purse>()).first)
    #expect(purse.name == "Old")
    _ = try mine.fetch(FetchDescriptor<Bag>())
    saved.name = "New"
    try other.save()
    purse.weight = 1
    try mine.save()
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Purse>()).first)
    #expect(stored.searchName == Schema.Derivation.canonicalText(of: stored.name))
  }
}

@Model
private final class Purse {
  @Attribute(.unique) var name: String
  var weight = 0
  @Relationship(inverse: \Penny.purse) var pennies: [Penny] = []
  @Derived(.canonical(\Purse.name)) var searchName: String
  @Derived(.sum(of: \Penny.value, over: \Purse.pennies)) var total: Int
  init(_ name: String) { self.name = name }
}

@Model
private final class Penny {
  var value: Int
  var purse: Purse?
  init(_ value: Int) { self.value = value }
}
