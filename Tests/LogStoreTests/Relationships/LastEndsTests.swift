import Foundation
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

// To-one relationships of models whose delete was saved.

@Model private final class Bookcase {
  var name: String
  @Relationship(inverse: \Tome.shelf) var volumes: [Tome] = []
  @Relationship(deleteRule: .cascade, inverse: \Handout.shelf) var leaflets: [Handout] = []
  var lock: BookcaseLock?
  init(_ name: String) { self.name = name }
}

@Model private final class Tome {
  var title: String
  var shelf: Bookcase?
  var binding: Cloth?
  init(_ title: String) { self.title = title }
}

/// Cannot be without a shelf.
@Model private final class Handout {
  var title: String
  var shelf: Bookcase
  init(_ title: String, _ shelf: Bookcase) {
    self.title = title
    self.shelf = shelf
  }
}

@Model private final class BookcaseLock {
  var code: Int
  @Relationship(inverse: \Bookcase.lock) var shelf: Bookcase?
  init(_ code: Int) { self.code = code }
}

/// Knows nothing of its volumes.
@Model private final class Cloth {
  var color: String
  init(_ color: String) { self.color = color }
}

/// How the deleted models came into their context.
private enum TomeOrigin: CaseIterable { case inserted, fetched, read }

@Suite struct `To-one relationships of a model whose delete was saved` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Bookcase.self, Tome.self, Handout.self, BookcaseLock.self, Cloth.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  private struct Models {
    let context: ModelContext
    let shelf: Bookcase
    let volume: Tome
    let leaflet: Handout
    let lock: BookcaseLock
  }

  private func makeModels(_ origin: TomeOrigin = .inserted) throws -> Models {
    var context = ModelContext(container)
    let shelf = Bookcase("s")
    context.insert(shelf)
    let (volume, leaflet, lock) = (Tome("v"), Handout("l", shelf), BookcaseLock(7))
    shelf.volumes = [volume, Tome("w")]
    shelf.lock = lock
    volume.binding = Cloth("red")
    context.insert(leaflet)
    try context.save()
    guard origin != .inserted else {
      return Models(context: context, shelf: shelf, volume: volume, leaflet: leaflet, lock: lock)
    }
    context = ModelContext(container)
    let found = Models(
      context: context,
      shelf: try #require(try context.fetch(FetchDescriptor<Bookcase>()).first),
      volume: try #require(
        try context.fetch(FetchDescriptor<Tome>(predicate: #Predicate { $0.title == "v" })).first
      ),
      leaflet: try #require(try context.fetch(FetchDescriptor<Handout>()).first),
      lock: try #require(try context.fetch(FetchDescriptor<BookcaseLock>()).first)
    )
    if origin == .read {
      #expect(found.volume.shelf === found.shelf)
      #expect(found.volume.binding?.color == "red")
      #expect(found.leaflet.shelf === found.shelf)
      #expect(found.lock.shelf === found.shelf)
      #expect(found.shelf.volumes.count == 2)
    }
    return found
  }

  @Test(arguments: TomeOrigin.allCases)
  private func `lead where they led`(origin: TomeOrigin) throws {
    let models = try makeModels(origin)
    let context = models.context
    for model in [models.volume, models.leaflet, models.lock] as [any PersistentModel] {
      context.delete(model)
    }
    for _ in 0..<2 {
      #expect(models.volume.shelf === models.shelf)
      #expect(models.volume.binding?.color == "red")
      #expect(models.leaflet.shelf === models.shelf)
      #expect(models.lock.shelf === models.shelf)
      #expect(models.shelf.volumes.map(\.title) == ["w"])
      #expect(models.shelf.leaflets.isEmpty)
      #expect(models.shelf.lock == nil)
      try context.save()
    }
    #expect(models.volume.isDeleted && models.volume.modelContext == nil)
    #expect(!context.hasChanges)
    let others = ModelContext(container)
    #expect(try others.fetch(FetchDescriptor<Bookcase>()).first?.volumes.map(\.title) == ["w"])
    #expect(try others.fetchCount(FetchDescriptor<BookcaseLock>()) == 0)
  }

  @Test func `lead to models that have no other reference`() throws {
    let context = ModelContext(container)
    var volume: Tome?
    do {
      let models = try makeModels()
      _ = models
    }
    volume = try context.fetch(FetchDescriptor<Tome>(predicate: #Predicate { $0.title == "v" }))
      .first
    context.delete(try #require(volume))
    try context.save()
    #expect(volume?.shelf?.name == "s")
    #expect(volume?.shelf?.volumes.map(\.title) == ["w"])
    #expect(volume?.binding?.color == "red")
  }

  @Test func `lead to what was set last, saved or not`() throws {
    let models = try makeModels(.fetched)
    let other = Bookcase("other")
    models.context.insert(other)
    models.volume.shelf = other
    models.volume.binding = nil
    models.context.delete(models.volume)
    try models.context.save()
    #expect(models.volume.shelf === other)
    #expect(models.volume.binding == nil)
    #expect(other.volumes.isEmpty)
    #expect(models.shelf.volumes.map(\.title) == ["w"])
  }

  @Test func `lead where they led if the model was never saved`() throws {
    let models = try makeModels()
    let (volume, shelf) = (Tome("new"), Bookcase("new"))
    models.context.insert(shelf)
    volume.shelf = shelf
    volume.binding = models.volume.binding
    models.context.delete(volume)
    try models.context.save()
    #expect(volume.shelf === shelf)
    #expect(volume.binding?.color == "red")
    #expect(shelf.volumes.isEmpty)
  }

  @Test(arguments: TomeOrigin.allCases)
  private func `are nil if the other model was deleted with it`(origin: TomeOrigin) throws {
    let models = try makeModels(origin)
    let binding = try #require(models.volume.binding)
    models.context.delete(models.volume)
    models.context.delete(binding)
    models.context.delete(models.shelf)
    try models.context.save()
    #expect(models.volume.shelf == nil)
    #expect(models.volume.binding == nil)
    #expect(models.lock.shelf == nil)
    #expect(models.leaflet.isDeleted)
    #expect(models.leaflet.title == "l")
    #expect(models.leaflet.shelf.isDeleted)
    #expect(models.shelf.volumes.isEmpty)
    #expect(models.shelf.lock === models.lock)
  }

  @Test(arguments: TomeOrigin.allCases)
  private func `are nil once the other model is deleted, too`(origin: TomeOrigin) throws {
    let models = try makeModels(origin)
    models.context.delete(models.volume)
    try models.context.save()
    #expect(models.volume.shelf === models.shelf)
    models.context.delete(models.shelf)
    #expect(models.volume.shelf == nil)
    models.context.rollback()
    #expect(models.volume.shelf === models.shelf)
    models.context.delete(models.shelf)
    try models.context.save()
    #expect(models.volume.shelf == nil)
    #expect(models.volume.binding?.color == "red")
    let other = ModelContext(container)
    try other.delete(model: Cloth.self)
    try other.save()
    _ = try models.context.fetch(FetchDescriptor<Cloth>())
    #expect(models.volume.binding == nil)
  }

  @Test func `are nil once the context is gone, and keep neither it nor the models`() throws {
    weak var context: ModelContext?
    weak var shelf: Bookcase?
    let volume: Tome
    do {
      let models = try makeModels()
      volume = models.volume
      models.context.delete(volume)
      try models.context.save()
      #expect(volume.shelf === models.shelf)
      (context, shelf) = (models.context, models.shelf)
    }
    #expect(context == nil)
    #expect(shelf == nil)
    #expect(volume.shelf == nil)
    #expect(volume.title == "v")
  }

  @Test func `lead to the same model after its context's successor has taken it over`() throws {
    var models: Models? = try makeModels()
    let volume = try #require(models?.volume)
    let shelf = try #require(models?.shelf)
    models?.context.delete(volume)
    try models?.context.save()
    models = nil
    #expect(shelf.volumes.map(\.title) == ["w"])
    #expect(volume.shelf === shelf || volume.shelf == nil)
  }

  @Test func `change nothing if the delete is rolled back, or its save fails`() throws {
    let models = try makeModels(.fetched)
    models.context.delete(models.volume)
    models.context.rollback()
    #expect(models.volume.shelf === models.shelf)
    #expect(!models.volume.isDeleted || models.volume.shelf != nil)
    #expect(Set(models.shelf.volumes.map(\.title)) == ["v", "w"])
    models.context.delete(models.volume)
    models.leaflet.title = "changed"
    let other = ModelContext(container)
    try other.delete(model: Handout.self)
    try other.save()
    #expect(throws: SwiftDataError.self) { try models.context.save() }
    #expect(models.volume.shelf === models.shelf)
    #expect(models.volume.modelContext === models.context)
    #expect(models.shelf.volumes.map(\.title) == ["w"])
    models.context.rollback()
    #expect(models.volume.shelf === models.shelf)
    #expect(Set(models.shelf.volumes.map(\.title)) == ["v", "w"])
  }

  @Test(arguments: [false, true])
  func `are those of before once the delete is undone`(isSaved: Bool) throws {
    let models = try makeModels(.fetched)
    let undoManager = UndoManager()
    models.context.undoManager = undoManager
    undoManager.beginUndoGrouping()
    models.context.delete(models.volume)
    undoManager.endUndoGrouping()
    if isSaved { try models.context.save() }
    #expect(models.volume.shelf === models.shelf)
    undoManager.undo()
    try models.context.save()
    #expect(!models.volume.isDeleted || models.volume.modelContext === models.context)
    #expect(models.volume.shelf === models.shelf)
    #expect(models.volume.binding?.color == "red")
    #expect(Set(models.shelf.volumes.map(\.title)) == ["v", "w"])
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Bookcase>()).first?.volumes.count == 2)
    undoManager.redo()
    try models.context.save()
    // Undoing a saved delete has set the end, so redoing that clears it first.
    #expect(models.volume.shelf === (isSaved ? nil : models.shelf))
    #expect(models.shelf.volumes.map(\.title) == ["w"])
  }

  @Test func `are kept if another context deletes the model`() throws {
    let models = try makeModels(.read)
    models.context.automaticallyMergesChanges = true
    let other = ModelContext(container)
    try other.delete(model: Tome.self, where: #Predicate { $0.title == "v" })
    try other.save()
    models.context.processPendingChanges()
    #expect(models.shelf.volumes.map(\.title) == ["w"])
    #expect(models.volume.title == "v")
    let shelf = models.volume.shelf
    #expect(shelf == nil || shelf === models.shelf)
    models.context.delete(models.volume)
    try models.context.save()
    #expect(models.shelf.volumes.map(\.title) == ["w"])
  }

  @Test func `are empty when the model is inserted again, until they are set`() throws {
    let models = try makeModels(.fetched)
    models.context.delete(models.volume)
    try models.context.save()
    #expect(models.volume.shelf === models.shelf)
    models.context.insert(models.volume)
    #expect(models.volume.shelf == nil)
    try models.context.save()
    #expect(models.shelf.volumes.map(\.title) == ["w"])
    models.volume.shelf = models.shelf
    try models.context.save()
    #expect(models.volume.shelf === models.shelf)
    #expect(Set(models.shelf.volumes.map(\.title)) == ["v", "w"])
  }

  @Test func `can be set, which changes nothing that is alive`() throws {
    let models = try makeModels(.fetched)
    models.context.delete(models.volume)
    try models.context.save()
    models.volume.shelf = nil
    #expect(models.volume.shelf == nil)
    #expect(models.shelf.volumes.map(\.title) == ["w"])
    try models.context.save()
    #expect(models.shelf.volumes.map(\.title) == ["w"])
  }

  @Test(arguments: TomeOrigin.allCases)
  private func `are beside lists that are empty`(origin: TomeOrigin) throws {
    let models = try makeModels(origin)
    models.context.delete(models.shelf)
    try models.context.save()
    #expect(models.shelf.volumes.isEmpty)
    #expect(models.shelf.leaflets.isEmpty)
    #expect(models.volume.shelf == nil)
  }
}
