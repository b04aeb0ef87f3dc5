import Foundation
import SwiftData
import Testing

@Suite struct `A cook book` {
  let store: TestStore
  let context: ModelContext

  init() throws {
    store = try TestStore(.file, Recipe.self, Ingredient.self, RecipeCollection.self)
    context = store.makeContext()
    let soup = Recipe(name: "Soup", createdAt: Date(timeIntervalSince1970: 1))
    soup.nutrition = Nutrition(calories: 200, protein: 8)
    soup.source = .book(title: "Soups", page: 12)
    soup.ingredients = [Ingredient(name: "Leek"), Ingredient(name: "Carrot")]
    soup.minutesByStep = ["cut": 5, "boil": 30]
    let cake = Recipe(name: "Cake", createdAt: Date(timeIntervalSince1970: 2), difficulty: .hard)
    cake.nutrition = Nutrition(calories: 900)
    cake.addTag("sweet")
    let everyday = RecipeCollection("Everyday")
    let quick = RecipeCollection("Quick", parent: everyday)
    quick.recipes.append(soup)
    context.insert(soup)
    context.insert(cake)
    try context.save()
  }

  @Test func `finds by name, by ingredient, by collection and by composite`() throws {
    let other = store.makeContext()
    func names(_ predicate: Predicate<Recipe>) throws -> [String] {
      try other.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
        .map(\.name)
    }
    #expect(try names(Recipe.search("")) == ["Cake", "Soup"])
    #expect(try names(Recipe.search("leek")) == ["Soup"])
    #expect(try names(Recipe.search("", atMost: .medium)) == ["Soup"])
    #expect(try names(Recipe.inCollection(named: "Quick")) == ["Soup"])
    #expect(try names(Recipe.inCollection(named: "Everyday")).isEmpty)
    #expect(try names(Recipe.lighter(than: 500)) == ["Soup"])
  }

  @Test func `keeps what it was given`() throws {
    let soup = try #require(try store.makeContext().fetch(Recipe.newest).last)
    #expect(soup.source == .book(title: "Soups", page: 12))
    #expect(soup.sortedIngredients.map(\.name) == ["Carrot", "Leek"])
    #expect(soup.ingredients[0].quantity == .init(amount: 1, unit: .piece))
    #expect(soup.totalMinutes == 35)
    #expect(soup.collections?.first?.path == "Everyday/Quick")
    #expect(soup.scaled(by: 2) == 400)
  }

  @Test func `copies recipes`() throws {
    let cake = try #require(try context.fetch(Recipe.newest).first)
    let copy = Recipe(copying: cake)
    context.insert(copy)
    try context.save()
    #expect(copy.name == "Cake (copy)")
    #expect(copy.tags == ["sweet"])
    #expect(copy.id != cake.id)
    #expect(try context.fetchCount(FetchDescriptor<Recipe>()) == 3)
  }
}

@Suite struct `A diary with versions` {
  @Test func `works through the names of its newest version`() throws {
    let container = try ModelContainer(
      for: JournalEntry.self,
      Mood.self,
      migrationPlan: JournalMigrationPlan.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let calm = Mood(name: "calm")
    let entry = JournalEntry(text: "a quiet day", date: Date(timeIntervalSince1970: 10), mood: calm)
    entry.isPinned = true
    context.insert(entry)
    context.insert(JournalEntry(text: "another", date: Date(timeIntervalSince1970: 100)))
    try context.save()
    #expect(entry.wordCount == 3)
    #expect(calm.entries?.count == 1)
    let day = DateInterval(start: Date(timeIntervalSince1970: 0), duration: 50)
    #expect(try context.fetch(JournalEntry.on(day)).map(\.text) == ["a quiet day"])
    #expect(try context.fetchCount(FetchDescriptor(predicate: JournalEntry.feeling(calm))) == 1)
    #expect(try context.fetchCount(FetchDescriptor(predicate: JournalEntry.pinned)) == 1)
  }
}

@Suite struct `A layer of repositories` {
  @Test func `imports in the background and lists in front`() async throws {
    let store = try TestStore(.file, Customer.self, Invoice.self)
    let importer = InvoiceImporter(modelContainer: store.container)
    let ids = try await importer.import([
      InvoiceDTO(number: 1, total: 10, customer: "Ann"),
      InvoiceDTO(number: 2, total: 20, customer: "Bob"),
      InvoiceDTO(number: 3, total: 30, customer: "Ann"),
    ])
    #expect(await importer.total(of: ids) == 60)
    #expect(await importer.imported == 3)

    let context = store.makeContext()
    let list = CustomerListModel(context: context)
    try list.reload()
    #expect(list.customers.map(\.name) == ["Ann", "Bob"])
    #expect(list.customers[0].invoices.map(\.number) == [1, 3])
    list.selection = Set(list.customers)
    #expect(list.selectedNames == ["Ann", "Bob"])
    list.searchText = "Bo"
    try list.reload()
    #expect(list.customers.map(\.details) == ["Bob <->"])

    let invoices = ModelRepository<Invoice>(context: context)
    try invoices.touchAll(at: Date(timeIntervalSince1970: 5))
    let third = try #require(try invoices.first(where: #Predicate { $0.number == 3 }))
    third.status = .paid(on: .distantPast, method: "cash")
    try context.save()
    #expect(third.isPaid)
    #expect(try context.existing(Invoice.self, third.persistentModelID) === third)
    try invoices.deleteAll(where: #Predicate { $0.number < 3 })
    try context.save()
    #expect(try invoices.count() == 1)
  }
}
