import SwiftData
import Testing

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
}
