import Foundation
import Testing

@testable import ModelRuntime

/// Models that others refer to without knowing of them.
enum OneWay {
  @Model final class Poster {
    var number: Int
    var frame: Frame?

    init(_ number: Int) { self.number = number }
  }

  @Model final class Frame {
    var width: Int

    init(_ width: Int) { self.width = width }
  }
}

@Suite struct `A filter that follows references` {
  @Test func `reads each of a few targets once`() throws {
    let world = try RandomItems(count: 200, seed: 1)
    let expression = try QueryExpression(#Predicate<Item> { $0.folder?.name == "a" })
    let before = world.fixture.visits
    _ = try world.fixture.matches(expression, of: Item.self)
    // Items and errands have a filter each.
    #expect(world.fixture.visits - before <= 2 * world.folders.count)
  }

  @Test func `looks at the members of each of a few lists once`() throws {
    let world = try RandomItems(count: 200, seed: 4)
    for predicate: Predicate<Item> in [
      #Predicate { $0.folder.flatMap { $0.items.contains { $0.number == -1 } } == true },
      #Predicate { $0.folder.flatMap { $0.items.filter { $0.isDone }.count > 1_000 } == true },
    ] {
      let expression = try QueryExpression(predicate)
      let before = world.fixture.visits
      _ = try world.fixture.matches(expression, of: Item.self)
      // Items and errands have a filter each, and each folder and each item is visited a few times by both.
      let (items, folders) = (world.items.count, world.folders.count)
      #expect(world.fixture.visits - before <= 4 * (items + folders))
    }
    // What a member is compared with differs from row to row.
    let own: Predicate<Item> = #Predicate { item in
      item.folder.flatMap { $0.items.contains { $0.number > item.number } } == true
    }
    let found = try world.fixture.matches(QueryExpression(own), of: Item.self)
    let wanted = world.items.filter { item in
      item.folder?.items.contains { $0.number > item.number } ?? false
    }
    #expect(Set(found.map { ObjectIdentifier($0) }) == Set(wanted.map { ObjectIdentifier($0) }))
  }

  @Test func `finds nil where a row is gone`() throws {
    let world = try RandomItems(seed: 2)
    let gone = world.folders[2]
    world.fixture.lose(gone)
    let inside = world.items.filter { $0.folder === gone }.map { ObjectIdentifier($0) }
    try #require(!inside.isEmpty)
    let wanted = gone.name
    for predicate: Predicate<Item> in [
      #Predicate { $0.folder?.name == wanted },
      #Predicate { ($0.folder?.size ?? 100) < 100 },
      #Predicate { $0.folder.flatMap { $0.items.contains { $0.number < 0 } } == true },
    ] {
      let found = try world.fixture.matches(QueryExpression(predicate), of: Item.self)
      #expect(Set(found.map { ObjectIdentifier($0) }).isDisjoint(with: inside))
    }
  }

  @Test func `visits no row to see whether there is one, where its other end would have said so`()
    throws
  {
    let world = try RandomItems(count: 100, seed: 3)
    let before = world.fixture.visits
    for predicate: Predicate<Item> in [
      #Predicate { $0.folder == nil }, #Predicate { $0.labels.isEmpty },
      #Predicate { $0.labels.count > 1 },
    ] {
      _ = try world.fixture.matches(QueryExpression(predicate), of: Item.self)
    }
    #expect(world.fixture.visits == before)
  }
}

@Suite struct `A filter that asks whether there is a row` {
  @Test func `reads none: the row may be damaged, and its name is enough`() throws {
    let frame = OneWay.Frame(3)
    let gone = OneWay.Frame(4)
    let posters = (0..<3).map { OneWay.Poster($0) }
    posters[0].frame = frame
    posters[1].frame = gone
    var models: [any PersistentModel] = [frame, gone]
    for poster in posters { models.append(poster) }
    let fixture = try RowFixture(models)
    fixture.lose(gone)
    let expression = try QueryExpression(#Predicate<OneWay.Poster> { $0.frame == nil })
    let before = fixture.visits
    #expect(try fixture.matches(expression, of: OneWay.Poster.self).map(\.number) == [1, 2])
    #expect(fixture.visits == before)
  }
}

@Suite struct `A predicate that rows cannot answer` {
  @Test func `says so before any row is read`() {
    #expect(throws: Untranslatable.self) {
      try QueryExpression(#Predicate<Item> { $0.shout == "A" })
    }
    #expect(throws: Untranslatable.self) {
      try QueryExpression(#Predicate<Book> { $0.isSelected })
    }
    #expect(throws: Untranslatable.self) {
      try QueryExpression(#Predicate<Item> { $0.persistentModelID.entityName == "Item" })
    }
    let many = Array(0..<1000)
    #expect(throws: Untranslatable.self) {
      try QueryExpression(#Predicate<Item> { item in many.contains { $0 == item.number } })
    }
  }

  @Test func `does so too if a node is somebody else's`() {
    let predicate = Predicate<Item> { _ in Coin() }
    #expect(throws: Untranslatable.self) { try QueryExpression(predicate) }
  }
}

/// A node that no store has heard of.
private struct Coin: StandardPredicateExpression {
  func evaluate(_ bindings: PredicateBindings) throws -> Bool { true }
}

@Suite struct `A row on which a predicate would fail` {
  @Test func `does not match, nor does its object`() throws {
    let world = try RandomItems(seed: 5)
    // swift-format-ignore: NeverForceUnwrap
    let unwrapping = #Predicate<Item> { !($0.note!.isEmpty) }
    let found = try world.fixture.matches(QueryExpression(unwrapping), of: Item.self)
    #expect(found.allSatisfy { $0.note?.isEmpty == false })
    #expect(try world.items.filter(ObjectFilter(unwrapping).matches) == found)
  }

  @Test(arguments: [0, 1])
  func `does not match where arithmetic overflows or divides by zero`(divisor: Int) throws {
    let world = try RandomItems(seed: 6)
    let predicate = #Predicate<Item> { $0.number / divisor + 1 > 0 }
    let found = try world.fixture.matches(QueryExpression(predicate), of: Item.self)
    let expected = world.items.filter {
      divisor != 0 && $0.number < Int.max && $0.number + 1 > 0
    }
    #expect(found == expected)
  }

  @Test func `does not match where the bounds of a range are the wrong way round`() throws {
    let world = try RandomItems(seed: 7)
    let (five, three) = (5, 3)
    // swift-format-ignore: NeverForceUnwrap
    let predicates: [Predicate<Item>] = [
      #Predicate { !($0.number...$0.priority.rawValue).contains(1) },
      #Predicate { !($0.number..<$0.priority.rawValue).contains(1) },
      #Predicate { ($0.number...$0.priority.rawValue).contains(1) || $0.number > -1000 },
      #Predicate { ($0.number...$0.priority.rawValue).contains(1) == false },
      #Predicate { ($0.number...$0.priority.rawValue).contains(1) ? false : true },
      #Predicate { !($0.number...2).contains($0.priority.rawValue) },
      #Predicate { !(2..<$0.number).contains($0.priority.rawValue) },
      #Predicate { !($0.ratio...$0.score!).contains(1) },
      #Predicate { !($0.labels.contains { $0.weight >= 0 } && (five...three).contains($0.number)) },
      #Predicate { !(five..<three).contains($0.number) },
    ]
    for (number, predicate) in predicates.enumerated() {
      let expected = try world.items.filter(NodeFilter(predicate).matches)
      let expression = try QueryExpression(predicate)
      #expect(expected.count < world.items.count, "\(number)")
      #expect(try world.fixture.matches(expression, of: Item.self) == expected, "\(number)")
      #expect(try world.items.filter(ObjectFilter(predicate).matches) == expected, "\(number)")
    }
  }

  @Test func `is no question for a range that has to contain something`() throws {
    let expression = try QueryExpression(
      #Predicate<Item> { $0.isDone && ($0.number...$0.priority.rawValue).contains(1) }
    )
    // What columns and indexes answer: an item whose bounds are the wrong way round fails one of the two.
    guard case .and(_, .and(.comparison, .comparison)) = expression else {
      Issue.record("\(expression)")
      return
    }
  }
}
