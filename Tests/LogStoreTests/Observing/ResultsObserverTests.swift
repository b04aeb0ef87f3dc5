import Foundation
import SwiftData
import Testing

@Suite struct `An observer of results` {
  let container: ModelContainer
  let context: ModelContext
  let sibling: ModelContext

  init() throws {
    container = try makeShelves()
    context = ModelContext(container)
    sibling = ModelContext(container)
  }

  private func byTitle() throws -> ResultsObserver<Volume, Never> {
    try ResultsObserver(sortBy: [SortDescriptor(\.title)], modelContext: context)
  }

  @Test func `shows what its fetch finds`() throws {
    try context.addVolumes("bac")
    #expect(try byTitle().titles == "abc")
    let filtered = try ResultsObserver<Volume, Never>(
      filterBy: #Predicate { $0.title != "b" },
      modelContext: context
    )
    #expect(filtered.titles == "ac")
    let limited = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title, order: .reverse)])
    #expect(
      try ResultsObserver(fetchDescriptor: limited, modelContext: context).titles == "cba"
    )
    #expect(try ResultsObserver<Volume, Never>(modelContainer: container).titles == "bac")
    #expect(try byTitle().sections == nil)
    #expect(try byTitle().sectionBy == nil)
  }

  @Test func `shows insertions, changes and deletes before they are saved`() throws {
    let volumes = try context.addVolumes("bdf")
    let observer = try byTitle()
    context.insert(Volume("c"))
    #expect(observer.titles == "bcdf")
    volumes[0].title = "e"
    #expect(observer.titles == "cdef")
    volumes[0].title = "a"
    #expect(observer.titles == "acdf")
    context.delete(volumes[1])
    #expect(observer.titles == "acf")
    try context.save()
    #expect(observer.titles == "acf")
  }

  @Test func `goes back with a rollback`() throws {
    let volumes = try context.addVolumes("bdf")
    let observer = try byTitle()
    context.insert(Volume("c"))
    volumes[0].title = "z"
    context.delete(volumes[1])
    #expect(observer.titles == "cfz")
    context.rollback()
    #expect(observer.titles == "bdf")
  }

  @Test func `follows undo and redo`() throws {
    let volumes = try context.addVolumes("bd")
    let manager = UndoManager()
    context.undoManager = manager
    let observer = try byTitle()
    volumes[0].title = "x"
    context.processPendingChanges()
    context.insert(Volume("c"))
    context.processPendingChanges()
    context.delete(volumes[1])
    context.processPendingChanges()
    #expect(observer.titles == "cx")
    manager.undo()
    #expect(observer.titles == "cdx")
    manager.undo()
    #expect(observer.titles == "dx")
    manager.undo()
    #expect(observer.titles == "bd")
    manager.redo()
    manager.redo()
    #expect(observer.titles == "cdx")
  }

  @Test func `shows what other contexts save`() throws {
    let volumes = try context.addVolumes("bdf")
    let observer = try byTitle()
    let theirs = try sibling.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    sibling.insert(Volume("c"))
    theirs[0].title = "g"
    sibling.delete(theirs[1])
    #expect(observer.titles == "bdf")
    try sibling.save()
    #expect(observer.titles == "cfg")
    #expect(volumes[0].title == "g")
    #expect(volumes[1].isDeleted)
    #expect(!context.automaticallyMergesChanges)
  }

  @Test func `keeps equal models in the order they were first saved, unsaved ones last`() throws {
    let volumes = try context.addVolumes("abcd")
    let sort = [SortDescriptor(\Volume.pages)]
    let observer = try ResultsObserver(sortBy: sort, modelContext: context)
    context.insert(Volume("y"))
    context.insert(Volume("z"))
    volumes[1].pages = 1
    volumes[2].pages = -1
    #expect(observer.titles == "cadyzb")
    volumes[2].pages = 0
    volumes[1].pages = 0
    #expect(observer.titles == "abcdyz")
    #expect(try context.fetch(FetchDescriptor(sortBy: sort)).map(\.title).joined() == "abcdyz")
    try sibling.addVolumes("s")
    #expect(observer.titles == "abcdsyz")
    try context.save()
    #expect(observer.titles == "abcdsyz")
  }

  @Test func `leaves the results it has returned as they were`() throws {
    let volumes = try context.addVolumes("abc")
    let observer = try byTitle()
    let before = observer.results
    context.delete(volumes[1])
    #expect(observer.titles == "ac")
    #expect(before.map(\.title) == ["a", "b", "c"])
  }

  @Test func `finds models by index path, and index paths of models`() throws {
    let volumes = try context.addVolumes("cab")
    let observer = try byTitle()
    #expect(observer.element(at: IndexPath(indexes: [0, 1])) === volumes[2])
    #expect(observer.indexPath(for: volumes[0]) == IndexPath(indexes: [0, 2]))
    #expect(observer.indexPath(for: Volume("z")) == nil)
    for path in [[0, 3], [0, -1], [1, 0], [0], []] {
      #expect(observer.element(at: IndexPath(indexes: path)) == nil)
    }
  }

  @Test func `asks for something else when it is told to`() throws {
    try context.addVolumes("abcd")
    let observer = try byTitle()
    observer.sortBy = [SortDescriptor(\.title, order: .reverse)]
    #expect(observer.titles == "dcba")
    observer.filterBy = #Predicate { $0.title > "b" }
    #expect(observer.titles == "dc")
    #expect(observer.fetchDescriptor.sortBy == observer.sortBy)
    #expect(observer.fetchDescriptor.predicate != nil)
    observer.filterBy = nil
    #expect(observer.titles == "dcba")
  }

  @Test func `says what it is`() throws {
    try context.addVolumes("ab")
    #expect(String(reflecting: try byTitle()) == "ResultsObserver<Volume>(2 results)")
  }

  @Test(arguments: [(limit: 2, offset: 0), (limit: 2, offset: 1), (limit: 10, offset: 3)])
  func `keeps to limit and offset`(limit: Int, offset: Int) throws {
    var volumes = try context.addVolumes("bdfh")
    var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    let observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
    func check() throws {
      let all = volumes.map(\.title).sorted()
      #expect(observer.titles == all.dropFirst(offset).prefix(limit).joined())
    }
    try check()
    volumes.append(Volume("a"))
    context.insert(volumes[4])
    try check()
    volumes[0].title = "z"
    try check()
    context.delete(volumes.removeFirst())
    try check()
  }

  @Test func `follows other models that the predicate and the sort read`() throws {
    let shelves = ["west", "east"].map(Shelf.init)
    for shelf in shelves { context.insert(shelf) }
    let volumes = try context.addVolumes("ab")
    let onEast = try ResultsObserver<Volume, Never>(
      filterBy: #Predicate { $0.shelf?.name == "east" },
      modelContext: context
    )
    let byShelf = try ResultsObserver<Volume, Never>(
      sortBy: [SortDescriptor(\.shelf?.name)],
      modelContext: context
    )
    #expect(onEast.titles == "")
    volumes[0].shelf = shelves[0]
    volumes[1].shelf = shelves[1]
    #expect(onEast.titles == "b")
    #expect(byShelf.titles == "ba")
    shelves[0].name = "east"
    shelves[1].name = "zenith"
    #expect(onEast.titles == "a")
    #expect(byShelf.titles == "ab")
    try context.save()
    let theirs = try sibling.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.name)]))
    theirs[1].name = "east"
    try sibling.save()
    #expect(onEast.titles == "ab")
  }

  @Test func `follows a cascade, and a delete of many`() throws {
    let shelf = Shelf("west")
    context.insert(shelf)
    let volumes = try context.addVolumes("abcd")
    shelf.volumes = Array(volumes[..<2])
    try context.save()
    let observer = try byTitle()
    context.delete(shelf)
    #expect(observer.titles == "cd")
    try context.delete(model: Volume.self, where: #Predicate { $0.title == "d" })
    #expect(observer.titles == "c")
  }

  @Test func `shows only what is saved if it is asked to`() throws {
    let volumes = try context.addVolumes("ab")
    var descriptor = FetchDescriptor<Volume>()
    descriptor.includePendingChanges = false
    let observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
    context.insert(Volume("c"))
    context.delete(volumes[0])
    #expect(observer.results.count == 2)
    try context.save()
    #expect(observer.titles == "bc")
  }

  @Test func `keeps a NaN where a fetch has it`() throws {
    let volumes = try context.addVolumes("abc")
    let sort = [SortDescriptor(\Volume.weight)]
    let observer = try ResultsObserver(sortBy: sort, modelContext: context)
    volumes[0].weight = .nan
    volumes[2].weight = -1
    #expect(
      observer.titles == (try context.fetch(FetchDescriptor(sortBy: sort))).map(\.title).joined()
    )
    volumes[0].weight = 4
    #expect(observer.titles == "cba")
  }

  @Test func `takes one object's place when an upsert gives its row to another`() throws {
    let container = try ModelContainer(
      for: Schema([Badge.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    let context = ModelContext(container)
    let first = Badge("a", rank: 1)
    context.insert(first)
    context.insert(Badge("b", rank: 2))
    try context.save()
    let observer = try ResultsObserver<Badge, Never>(
      sortBy: [SortDescriptor(\.rank)],
      modelContext: context
    )
    context.insert(Badge("a", rank: 3))
    #expect(observer.results.map(\.rank) == [1, 2, 3])
    try context.save()
    #expect(observer.results.map(\.rank) == [2, 3])
    #expect(observer.results[1] === first)
  }
}

@Model final class Badge {
  @Attribute(.unique) var code: String
  var rank: Int

  init(_ code: String, rank: Int) {
    self.code = code
    self.rank = rank
  }
}
