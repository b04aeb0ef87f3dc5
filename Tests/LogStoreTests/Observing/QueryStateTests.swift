import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@MainActor @Suite(.timeLimit(.minutes(30))) struct `The state of a query` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try makeShelves()
    context = container.mainContext
    // A first save counts as a change, since it gives models their identifiers.
    context.autosaveEnabled = false
  }

  /// A screen that draws what it shows again when it is asked to.
  @MainActor final class Screen {
    private(set) var drawings: [String] = []
    private(set) var query: QueryState<Volume>?

    func show(_ descriptor: FetchDescriptor<Volume>, in context: ModelContext) {
      query = QueryState(descriptor) { [weak self] in self?.draw() }
      query?.update(in: context)
      draw()
    }

    func draw() { drawings.append(query?.results.map(\.title).joined() ?? "") }

    /// Waits until it was drawn so often.
    func waitUntilDrawn(_ count: Int) async {
      while drawings.count < count { await Task.yield() }
    }
  }

  private var byTitle: FetchDescriptor<Volume> {
    FetchDescriptor(sortBy: [SortDescriptor(\.title)])
  }

  private func settle() async { for _ in 0..<3 { await Task { @MainActor in }.value } }

  @Test func `has a screen drawn again after each change, also of another context`() async throws {
    let screen = Screen()
    screen.show(FetchDescriptor(sortBy: [SortDescriptor(\.title)]), in: context)
    context.insert(Volume("b"))
    context.insert(Volume("c"))
    await settle()
    #expect(screen.drawings == ["", "bc"])
    try await Importer(modelContainer: container).add("a")
    await screen.waitUntilDrawn(3)
    #expect(screen.drawings == ["", "bc", "abc"])
  }

  @Test func `has a screen drawn again when a value alone changes`() async throws {
    let volumes = try context.addVolumes("ab")
    let screen = Screen()
    // Neither the filter nor the order reads the title.
    screen.show(FetchDescriptor(sortBy: [SortDescriptor(\.pages)]), in: context)
    volumes[0].title = "c"
    await screen.waitUntilDrawn(2)
    try context.save()
    let other = ModelContext(container)
    let found = try other.fetch(byTitle)
    found[0].title = "d"
    try other.save()
    await screen.waitUntilDrawn(3)
    context.delete(volumes[0])
    await screen.waitUntilDrawn(4)
    #expect(screen.drawings == ["ab", "cb", "cd", "d"])
  }

  @Test func `leaves a screen alone when nothing on it changes`() async throws {
    try context.addVolumes("ab")
    let screen = Screen()
    screen.show(FetchDescriptor(predicate: #Predicate { $0.title < "c" }), in: context)
    context.insert(Volume("z"))
    context.insert(Shelf("top"))
    try context.save()
    await settle()
    #expect(screen.drawings == ["ab"])
  }

  @Test func `announces changes once, until the results are read again`() async throws {
    let volumes = try context.addVolumes("a")
    var count = 0
    let query = QueryState(byTitle) { count += 1 }
    query.update(in: context)
    #expect(query.elements.map(\.title) == ["a"])
    volumes[0].pages = 1
    context.insert(Volume("b"))
    await settle()
    volumes[0].pages = 2
    context.insert(Volume("c"))
    await settle()
    #expect(count == 1)
    #expect(query.elements.map(\.title) == ["a", "b", "c"])
    volumes[0].pages = 3
    await settle()
    #expect(count == 2)
  }

  @Test func `fetches nothing for a drawing without changes`() throws {
    let volumes = try context.addVolumes("abc")
    func descriptor(since due: TimeInterval) -> FetchDescriptor<Volume> {
      let due = Date(timeIntervalSince1970: due)
      return FetchDescriptor(predicate: #Predicate { $0.due.flatMap { $0 >= due } ?? true })
    }
    let query = QueryState<Volume>()
    func draw(_ descriptor: FetchDescriptor<Volume>) -> (titles: [String], fetches: Int) {
      let (titles, plans) = context.explain {
        query.update(descriptor, in: context)
        return query.elements.map(\.title)
      }
      return (titles, plans.count)
    }
    let first = draw(descriptor(since: 1))
    #expect(first.fetches == 1)
    for _ in 1...3 { #expect(draw(descriptor(since: 1)) == (["a", "b", "c"], 0)) }
    volumes[1].title = "B"
    #expect(draw(descriptor(since: 1)) == (["a", "B", "c"], 0))
    volumes[1].due = Date(timeIntervalSince1970: 0.5)
    #expect(draw(descriptor(since: 1)) == (["a", "c"], 0))
    // A quarter of a second is another question.
    #expect(draw(descriptor(since: 0.75)) == (["a", "c"], 1))
    #expect(draw(descriptor(since: 0.5)) == (["a", "B", "c"], 1))
  }

  @Test func `tells apart filters by the model that they compare with`() throws {
    let shelves = ["top", "low"].map { Shelf($0) }
    for shelf in shelves {
      context.insert(shelf)
      shelf.volumes.append(Volume("on the \(shelf.name) one"))
    }
    let query = QueryState<Volume>()
    func titles() -> [[String]] {
      shelves.map { shelf in
        let id = shelf.persistentModelID
        query.update(
          FetchDescriptor(predicate: #Predicate { $0.shelf?.persistentModelID == id }),
          in: context
        )
        return query.elements.map(\.title)
      }
    }
    #expect(titles() == [["on the top one"], ["on the low one"]])
    try context.save()
    #expect(titles() == [["on the top one"], ["on the low one"]])
  }

  @Test func `follows another container, and no longer the one before`() async throws {
    let other = try makeShelves()
    try context.addVolumes("a")
    try other.mainContext.addVolumes("b")
    let screen = Screen()
    screen.show(byTitle, in: context)
    screen.query?.update(in: other.mainContext)
    screen.draw()
    context.insert(Volume("c"))
    await settle()
    #expect(screen.drawings == ["a", "b"])
    other.mainContext.insert(Volume("d"))
    await screen.waitUntilDrawn(3)
    #expect(screen.drawings == ["a", "b", "bd"])
  }

  @Test func `goes, and leaves its context alone, while it waits for a change`() async throws {
    weak var gone: QueryState<Volume>?
    do {
      let query = QueryState(byTitle) { Issue.record("it is gone") }
      query.update(in: context)
      #expect(query.elements.isEmpty)
      gone = query
    }
    #expect(gone == nil)
    context.insert(Volume("a"))
    await settle()
    #expect(context.observers == nil)
  }

  @Test func `follows another descriptor and another context`() async throws {
    context.insert(Volume("b"))
    context.insert(Volume("a"))
    let query = QueryState<Volume>(FetchDescriptor(sortBy: [SortDescriptor(\.title)]))
    #expect(query.results.isEmpty)
    query.update(in: context)
    #expect(query.results.map(\.title) == ["a", "b"])
    query.descriptor.predicate = #Predicate { $0.title > "a" }
    query.update(in: context)
    #expect(query.results.map(\.title) == ["b"])
    query.update(in: ModelContext(container))
    #expect(query.results.isEmpty)
    #expect(query.fetchError == nil)
  }

  @Test func `says what its first fetch threw`() throws {
    let query = QueryState<Badge>()
    query.update(in: context)
    #expect(query.results.isEmpty)
    #expect(query.fetchError is SwiftDataError)
  }

  @Test func `is tracked by a framework that tracks what is drawn`() throws {
    let query = QueryState<Volume>()
    query.update(in: context)
    let notices = Notices()
    notices.track { _ = query.results }
    context.insert(Volume("a"))
    #expect(notices.count == 1)
  }
}
