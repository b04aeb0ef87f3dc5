import JSONStore
import SwiftData
import Testing

@Model private final class Shelf {
  var label: String
  var jars: [Jar] = []
  init(_ label: String) { self.label = label }
}

@Model private final class Jar {
  var content: String
  @Relationship(inverse: \Shelf.jars) var shelf: Shelf?
  init(_ content: String) { self.content = content }
}

@Model private final class Crate {
  @Relationship(deleteRule: .cascade, inverse: \Bottle.crate) var bottles: [Bottle] = []
  init() {}
}

@Model private final class Bottle {
  var crate: Crate?
  init() {}
}

@Suite struct `A model in a JSON file that another context has deleted` {
  let context: ModelContext
  private let shelf = Shelf("top")
  private let jar = Jar("plums")
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let file = folder.url.appending(path: "shelves.json")
    context = ModelContext(
      try ModelContainer(
        for: Schema([Shelf.self, Jar.self, Crate.self, Bottle.self]),
        configurations: [JSONStoreConfiguration(name: "shelves", url: file)]
      )
    )
    context.insert(shelf)
    shelf.jars.append(jar)
    try context.save()
  }

  private func deleteShelfElsewhere() throws {
    let other = ModelContext(context.container)
    try other.delete(model: Shelf.self)
    try other.save()
  }

  @Test(arguments: [false, true])
  func `cannot be changed, and the save says which`(isRead: Bool) throws {
    if isRead { #expect(shelf.label == "top") }
    try deleteShelfElsewhere()
    shelf.label = "bottom"
    let error = try #require(#expect(throws: SwiftDataError.self) { try context.save() })
    #expect(error == .modelValidationFailure)
    #expect(error.entityName == "Shelf")
    #expect("\(error)".contains("deleted by another context"))
    #expect(context.hasChanges)
    context.rollback()
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @Test func `can be deleted, changed or not`() throws {
    try deleteShelfElsewhere()
    shelf.label = "bottom"
    context.delete(shelf)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @Test func `is left out of a save of its relationships`() throws {
    #expect(shelf.jars.first === jar)
    try deleteShelfElsewhere()
    jar.shelf = nil
    jar.content = "beans"
    try context.save()
    #expect(!context.hasChanges)
    let fresh = ModelContext(context.container)
    #expect(try fresh.fetch(FetchDescriptor<Jar>()).map(\.content) == ["beans"])
    #expect(try fresh.fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  /// How a model goes while the context has others that were put into its list and not saved.
  enum Departure: CaseIterable { case batch, otherContext }

  private func depart<T: PersistentModel>(_ model: T.Type, by departure: Departure) throws {
    switch departure {
    case .batch: try context.batchDelete(model)
    case .otherContext:
      let other = ModelContext(context.container)
      for model in try other.fetch(FetchDescriptor<T>()) { other.delete(model) }
      try other.save()
    }
  }

  @Test(arguments: Departure.allCases, [false, true])
  func `is no longer the owner of what was added to it before`(
    departure: Departure,
    isNew: Bool
  ) throws {
    let added = Jar("added")
    context.insert(added)
    if !isNew { try context.save() }
    added.shelf = shelf
    try depart(Shelf.self, by: departure)
    try context.save()
    #expect(!context.hasChanges)
    #expect(added.shelf == nil)
    let saved = try ModelContext(context.container).fetch(FetchDescriptor<Jar>())
    #expect(saved.map(\.content).sorted() == ["added", "plums"])
    #expect(saved.allSatisfy { $0.shelf == nil })
  }

  @Test(arguments: Departure.allCases)
  func `refuses what was added to it, if it would have taken that along`(departure: Departure)
    throws
  {
    let crate = Crate()
    context.insert(crate)
    try context.save()
    let bottle = Bottle()
    context.insert(bottle)
    bottle.crate = crate
    try depart(Crate.self, by: departure)
    let error = try #require(#expect(throws: SwiftDataError.self) { try context.save() })
    #expect(error == .modelValidationFailure)
    #expect(error.entityName == "Bottle")
    #expect(context.hasChanges)
    bottle.crate = nil
    try context.save()
    let saved = try ModelContext(context.container).fetch(FetchDescriptor<Bottle>())
    #expect(saved.count == 1 && saved[0].crate == nil)
  }
}
