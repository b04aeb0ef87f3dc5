import SwiftData
import Testing

@testable import ModelRuntime

/// Leads to fruits, which do not lead back.
@Model final class FruitBasket {
  var name: String
  var fruits: [BasketFruit] = []
  var favourite: BasketFruit?

  init(_ name: String) { self.name = name }
}

@Model final class BasketFruit {
  var name: String

  init(_ name: String) { self.name = name }
}

@Suite struct `A relationship without another end` {
  let container: ModelContainer
  let context: ModelContext
  let basket = FruitBasket("basket")
  let apple = BasketFruit("apple")
  let pear = BasketFruit("pear")

  init() throws {
    container = try ModelContainer(
      for: FruitBasket.self,
      BasketFruit.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.insert(basket)
    context.insert(apple)
    context.insert(pear)
    basket.fruits = [apple, pear]
    basket.favourite = apple
    try context.save()
  }

  private func stored() throws -> [String] {
    let baskets = try ModelContext(container).fetch(FetchDescriptor<FruitBasket>())
    return baskets[0].fruits.map(\.name)
  }

  @Test func `to a new model that is deleted is nil, also when it is saved`() throws {
    let plum = BasketFruit("plum")
    context.insert(plum)
    basket.favourite = plum
    context.delete(plum)
    #expect(basket.favourite == nil)
    try context.save()
    let after = try ModelContext(container).fetch(FetchDescriptor<FruitBasket>())
    #expect(after[0].favourite == nil)
    #expect(basket.favourite == nil)
  }

  @Test func `no longer shows what another context has deleted, once a fetch could tell`() throws {
    #expect(basket.fruits.map(\.name) == ["apple", "pear"])
    #expect(basket.favourite === apple)
    let other = ModelContext(container)
    try other.delete(model: BasketFruit.self, where: #Predicate { $0.name == "apple" })
    try other.save()
    _ = try context.fetch(FetchDescriptor<FruitBasket>())
    #expect(basket.fruits.map(\.name) == ["pear"])
    #expect(basket.favourite == nil)
    basket.fruits.append(BasketFruit("plum"))
    try context.save()
    #expect(basket.fruits.map(\.name) == ["pear", "plum"])
    #expect(try stored() == ["pear", "plum"])
  }

  @Test func `counts once among recent lists, however often others save`() throws {
    let other = ModelContext(container)
    for number in 0..<5 {
      other.insert(BasketFruit("\(number)"))
      try other.save()
      #expect(basket.fruits.count == 2)
    }
    #expect(context.recentLists.memberCount == 2)
  }

  @Test func `has a member again whose delete is undone, although it was read meanwhile`() throws {
    context.undoManager = UndoManager()
    context.delete(apple)
    #expect(basket.fruits.map(\.name) == ["pear"])
    context.undoManager?.undo()
    #expect(basket.fruits.map(\.name) == ["apple", "pear"])
    try context.save()
    #expect(basket.fruits.map(\.name) == ["apple", "pear"])
    #expect(try stored() == ["apple", "pear"])
  }

  @Test(arguments: [false, true])
  func `leaves a deleted member out, whether its list has unsaved changes`(
    isChanged: Bool
  ) throws {
    if isChanged { basket.fruits = [pear, apple] }
    #expect(basket.fruits.count == 2)
    context.delete(apple)
    #expect(basket.fruits.map(\.name) == ["pear"])
    try context.save()
    #expect(basket.fruits.map(\.name) == ["pear"])
    #expect(try stored() == ["pear"])
  }

  @Test(arguments: [false, true])
  func `of a new model leaves a deleted member out, and has it again in its place`(
    isReordered: Bool
  ) throws {
    context.undoManager = UndoManager()
    let other = FruitBasket("other")
    context.insert(other)
    other.fruits = [pear, apple, BasketFruit("plum")]
    if isReordered { other.fruits.swapAt(0, 1) }
    let before = other.fruits.map(\.name)
    context.processPendingChanges()
    context.delete(apple)
    #expect(other.fruits.map(\.name) == ["pear", "plum"])
    context.undoManager?.undo()
    #expect(Set(other.fruits.map(\.name)) == Set(before))
    if !isReordered { #expect(other.fruits.map(\.name) == before) }
    context.undoManager?.redo()
    #expect(other.fruits.map(\.name) == ["pear", "plum"])
    try context.save()
    #expect(other.fruits.map(\.name) == ["pear", "plum"])
    let found = FetchDescriptor<FruitBasket>(predicate: #Predicate { $0.name == "other" })
    let stored = try #require(try ModelContext(container).fetch(found).first)
    #expect(stored.fruits.map(\.name) == ["pear", "plum"])
  }

  @Test func `has a new member again that was added, deleted and undeleted`() throws {
    context.undoManager = UndoManager()
    let plum = BasketFruit("plum")
    context.insert(plum)
    basket.fruits.insert(plum, at: 1)
    context.processPendingChanges()
    context.delete(plum)
    #expect(basket.fruits.map(\.name) == ["apple", "pear"])
    context.undoManager?.undo()
    #expect(Set(basket.fruits.map(\.name)) == ["apple", "pear", "plum"])
    try context.save()
    #expect(Set(try stored()) == ["apple", "pear", "plum"])
  }

  @Test(arguments: [false, true])
  func `does not bring back what was deleted before its own model, when that delete is undone`(
    isSavedBetween: Bool
  ) throws {
    let undo = UndoManager()
    context.undoManager = undo
    basket.fruits = []
    #expect(basket.favourite === apple)
    try context.save()
    undo.removeAllActions()
    context.delete(apple)
    if isSavedBetween { try context.save() } else { context.processPendingChanges() }
    context.delete(basket)
    try context.save()
    undo.undo()
    #expect(basket.favourite == nil)
    #expect(try context.fetch(FetchDescriptor<BasketFruit>()).map(\.name) == ["pear"])
    try context.save()
    #expect(basket.favourite == nil)
    let fresh = ModelContext(container)
    #expect(try fresh.fetch(FetchDescriptor<FruitBasket>()).map { $0.favourite?.name } == [nil])
    undo.undo()
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<BasketFruit>()) == 2)
  }

  @Test func `comes back with what was deleted in the same step of undo`() throws {
    let undo = UndoManager()
    context.undoManager = undo
    context.delete(apple)
    context.delete(basket)
    try context.save()
    undo.undo()
    #expect(basket.favourite === apple)
    try context.save()
    let baskets = try ModelContext(container).fetch(FetchDescriptor<FruitBasket>())
    #expect(baskets.map { $0.favourite?.name } == ["apple"])
  }
}
