import Foundation
import SwiftData
import Testing

@Suite struct `The changes of results` {
  let container: ModelContainer
  let context: ModelContext
  let volumes: [Volume]
  let observer: ResultsObserver<Volume, Never>

  init() throws {
    container = try makeShelves()
    context = ModelContext(container)
    volumes = try context.addVolumes("bdf")
    observer = try ResultsObserver(sortBy: [SortDescriptor(\.title)], modelContext: context)
  }

  /// Changes as `-0b +1d ~2f`.
  private func log(_ change: ResultsChange<Volume, Never>?) -> String? {
    guard let change else { return nil }
    let steps = change.difference.map { step in
      switch step {
      case .remove(let offset, let volume, let target):
        "-\(offset)\(volume.title)\(target.map { ">\($0)" } ?? "")"
      case .insert(let offset, let volume, let origin):
        "+\(offset)\(volume.title)\(origin.map { "<\($0)" } ?? "")"
      }
    }
    let updates = change.updated.map { "~\($0.offset)\($0.element.title)" }
    return (steps + updates).joined(separator: " ")
  }

  @Test func `begin with what there is`() throws {
    let cursor = observer.makeCursor()
    #expect(log(cursor.advance()) == "+0b +1d +2f")
    #expect(log(cursor.advance()) == nil)
    let none = try ResultsObserver<Volume, Never>(
      filterBy: #Predicate { $0.pages > 9 },
      modelContext: context
    )
    #expect(log(none.makeCursor().advance()) == "")
  }

  @Test func `say which models came, went, moved and were updated`() throws {
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    let c = Volume("c")
    context.insert(c)
    #expect(log(cursor.advance()) == "+1c")
    volumes[1].pages = 7
    #expect(log(cursor.advance()) == "~2d")
    volumes[0].title = "x"
    #expect(log(cursor.advance()) == "-0x>3 +3x<0")
    context.delete(c)
    volumes[2].genre = "poetry"
    #expect(log(cursor.advance()) == "-0c ~1f")
    context.insert(Shelf("west"))
    #expect(log(cursor.advance()) == nil)
    context.rollback()
    #expect(log(cursor.advance()) == "-2b>0 +0b<2 ~1d ~2f")
  }

  @Test func `cover everything since the last look, and nothing that was taken back`() throws {
    let cursor = observer.makeCursor()
    let other = observer.makeCursor()
    _ = (cursor.advance(), other.advance())
    for number in 0..<100 { context.insert(Volume("e\(number)")) }
    let passing = Volume("a")
    context.insert(passing)
    #expect(other.advance()?.difference.count == 101)
    context.delete(passing)
    volumes[0].title = "z"
    volumes[0].title = "b"
    #expect(cursor.advance()?.difference.insertions.count == 100)
    #expect(log(other.advance()) == "-0a ~0b")
  }

  @Test func `say that a first save gives a model its identifier`() throws {
    context.insert(Volume("c"))
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    try context.save()
    #expect(log(cursor.advance()) == "~1c")
    try context.save()
    #expect(log(cursor.advance()) == nil)
  }

  @Test func `tell of a model that another context changed where nobody sorts by it`() throws {
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    let theirs = ModelContext(container)
    let found = try theirs.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == "d" }))
    found[0].language = "pt"
    theirs.insert(Volume("g"))
    try theirs.save()
    #expect(log(cursor.advance()) == "+3g ~1d")
    #expect(volumes[1].language == "pt")
  }

  @Test func `have models that are gone, with their identifiers`() throws {
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    let id = volumes[1].persistentModelID
    let theirs = ModelContext(container)
    try theirs.delete(model: Volume.self, where: #Predicate { $0.title == "d" })
    try theirs.save()
    let change = try #require(cursor.advance())
    guard case .remove(1, let gone, nil) = change.difference.first else {
      Issue.record("\(change.difference)")
      return
    }
    #expect(gone.persistentModelID == id)
  }

  @Test func `know a model that left and came back for updated`() throws {
    let manager = UndoManager()
    context.undoManager = manager
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    context.delete(volumes[1])
    context.processPendingChanges()
    #expect(observer.titles == "bf")
    manager.undo()
    #expect(observer.titles == "bdf")
    #expect(log(cursor.advance()) == "~1d")
  }

  @Test func `keep quiet about lists of models`() throws {
    let shelves = try ResultsObserver<Shelf, Never>(modelContext: context)
    let shelf = Shelf("west")
    context.insert(shelf)
    try context.save()
    let cursor = shelves.makeCursor()
    _ = cursor.advance()
    shelf.volumes = volumes
    #expect(cursor.advance().map(\.updated.count) == nil)
    shelf.name = "east"
    #expect(cursor.advance().map(\.updated.count) == 1)
  }

  @Test func `are found between any two looks at the results`() throws {
    let shown = observer.results
    let limited = try context.fetch(FetchDescriptor<Volume>(), batchSize: 2)
    context.delete(volumes[1])
    let difference = observer.results.difference(from: shown)
    #expect(difference.count == 1)
    #expect(Array(shown).applying(difference) == Array(observer.results))
    #expect(observer.results.difference(from: limited).removals.count == 1)
    #expect(shown.difference(from: shown).isEmpty)
  }

  @Test func `say what becomes of sections, and of their members`() throws {
    let sectioned = try ResultsObserver<Volume, String>(
      sortBy: [SortDescriptor(\.genre), SortDescriptor(\.title)],
      sectionBy: \.genre,
      modelContext: context
    )
    let cursor = sectioned.makeCursor()
    #expect(cursor.advance()?.sectionsDifference.titles.count == 1)
    volumes[1].genre = "travel"
    let change = try #require(cursor.advance())
    #expect(change.sectionsDifference.titles.insertions.count == 1)
    #expect(change.sectionsDifference.members.keys.sorted() == [""])
    #expect(change.sectionsDifference.members[""]?.removals.count == 1)
    #expect(change.sections?.sectionTitles == ["", "travel"])
    let former = try #require(sectioned.sections)
    volumes[1].genre = "voyage"
    let sections = try #require(sectioned.sections)
    let difference = sections.difference(from: former)
    #expect(difference.titles.count == 2)
    #expect(difference.members.isEmpty)
    #expect(sections.difference(from: sections).isEmpty)
  }

  @Test func `follow a model from section to section where it keeps its position`() throws {
    let sectioned = try ResultsObserver<Volume, String>(
      sortBy: [SortDescriptor(\.title)],
      sectionBy: \.genre,
      modelContext: context
    )
    volumes[0].genre = "travel"
    let cursor = sectioned.makeCursor()
    _ = cursor.advance()
    volumes[1].genre = "travel"
    let change = try #require(cursor.advance())
    #expect(change.difference.isEmpty)
    #expect(change.updated.map(\.offset) == [1])
    #expect(change.sectionsDifference.members.count == 2)
  }
}

@Model private final class Label {
  @Attribute(.unique) var code: Int
  var text: String

  init(_ code: Int, _ text: String) { (self.code, self.text) = (code, text) }
}

@Suite struct `The changes of results by an upsert` {
  @Test(arguments: [false, true])
  func `have the model that took over the values`(isOwn: Bool) throws {
    let container = try ModelContainer(
      for: Label.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let label = Label(1, "old")
    context.insert(label)
    try context.save()
    let observer = try ResultsObserver<Label, Never>(modelContext: context)
    let cursor = observer.makeCursor()
    #expect(cursor.advance()?.results.count == 1)
    let writer = isOwn ? context : ModelContext(container)
    writer.insert(Label(1, "new"))
    try writer.save()
    let change = try #require(cursor.advance())
    #expect(change.difference.isEmpty)
    #expect(change.updated.map(\.element.text) == ["new"])
    #expect(observer.results.first === label)
  }

  @Test func `have it also if the other context had changed it before`() throws {
    let container = try ModelContainer(
      for: Label.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let label = Label(1, "old")
    context.insert(label)
    try context.save()
    let cursor = try ResultsObserver<Label, Never>(modelContext: context).makeCursor()
    _ = cursor.advance()
    let other = ModelContext(container)
    let theirs = try #require(other.fetch(FetchDescriptor<Label>()).first)
    theirs.text = "changed"
    other.insert(Label(1, "new"))
    try other.save()
    #expect(try #require(cursor.advance()).updated.map(\.element.text) == ["new"])
    #expect(label.text == "new" && theirs.text == "new")
  }
}

@MainActor @Suite(.timeLimit(.minutes(30))) struct `A task that follows changes` {
  let container: ModelContainer
  let observer: ResultsObserver<Volume, Never>

  init() throws {
    container = try makeShelves()
    observer = try ResultsObserver(
      sortBy: [SortDescriptor(\.title)],
      modelContext: container.mainContext
    )
  }

  @Test func `gets what there is, then every change until it stops`() async throws {
    var seen: [String] = []
    for await change in observer.changes {
      seen.append(change.results.map(\.title).joined())
      switch seen.count {
      case 1: container.mainContext.insert(Volume("b"))
      case 2: try await Importer(modelContainer: container).add("a")
      case 3: change.results[0].pages = 3
      default:
        #expect(change.updated.map(\.offset) == [0])
        #expect(change.difference.isEmpty)
      }
      if seen.count == 4 { break }
    }
    #expect(seen == ["", "b", "ab", "ab"])
  }

  @Test func `gets one change for all that happened while it was busy`() async throws {
    var counts: [Int] = []
    for await change in observer.changes {
      counts.append(change.difference.count)
      if counts.count == 2 { break }
      for letter in "abcd" {
        container.mainContext.insert(Volume(String(letter)))
        await Task.yield()
      }
    }
    #expect(counts == [0, 4])
  }

  @Test func `is woken by a background save`() async throws {
    let importer = Importer(modelContainer: container)
    let task = Task { @MainActor [observer] in
      for await change in observer.changes where !change.results.isEmpty {
        return change.results.map(\.title)
      }
      return []
    }
    await Task.yield()
    try await importer.add("ba")
    #expect(await task.value == ["a", "b"])
  }

  @Test func `sleeps through changes that are not of its results`() async throws {
    let filtered = try ResultsObserver<Volume, Never>(
      filterBy: #Predicate { $0.pages > 100 },
      modelContext: container.mainContext
    )
    let counts = Task { @MainActor in
      var counts: [Int] = []
      for await change in filtered.changes {
        counts.append(change.results.count)
        if !change.results.isEmpty { break }
      }
      return counts
    }
    await Task.yield()
    try await Importer(modelContainer: container).add("ab")
    await Task { @MainActor in }.value
    // Whoever is woken by this has been woken by all that came before.
    container.mainContext.insert(Volume("c", pages: 200))
    #expect(await counts.value == [0, 1])
  }

  @Test(arguments: [0, 1, 5])
  func `ends when it is cancelled`(turns: Int) async {
    let task = Task { @MainActor [observer] in
      var count = 0
      for await _ in observer.changes { count += 1 }
      return count
    }
    for _ in 0..<turns { await Task.yield() }
    task.cancel()
    #expect(await task.value <= 1)
  }

  @Test func `does not keep the observer and its context once it is cancelled`() async throws {
    weak var context: ModelContext?
    let task: Task<Void, Never>
    do {
      let own = ModelContext(container)
      context = own
      let kept = try ResultsObserver<Volume, Never>(modelContext: own)
      task = Task { @MainActor in for await _ in kept.changes {} }
    }
    await Task.yield()
    #expect(context != nil)
    task.cancel()
    await task.value
    // The task's last job may still be on its way out.
    while context != nil, !Task.isCancelled { await Task.yield() }
    #expect(context == nil)
  }

  @Test func `shares the observer with others that look at other times`() async throws {
    let quick = observer.makeCursor()
    _ = quick.advance()
    var iterator = observer.changes.makeAsyncIterator()
    #expect(await iterator.next(isolation: MainActor.shared)?.results.count == 0)
    container.mainContext.insert(Volume("a"))
    #expect(quick.advance()?.difference.count == 1)
    container.mainContext.insert(Volume("b"))
    #expect(quick.advance()?.difference.count == 1)
    #expect(await iterator.next(isolation: MainActor.shared)?.difference.count == 2)
  }
}

@Suite(.timeLimit(.minutes(30))) struct `An owner of its context that is no main actor` {
  @Test func `follows changes as a model actor`() async throws {
    let container = try makeShelves()
    let follower = Follower(modelContainer: container)
    let titles = Task { try await follower.titles(until: 3) }
    for letter in "bca" {
      try await Importer(modelContainer: container).add(String(letter))
      await Task.yield()
    }
    #expect(try await titles.value == "abc")
  }

  @Test func `follows changes in a task without an actor`() async throws {
    let container = try makeShelves()
    let titles = Task.detached {
      let observer = try ResultsObserver(
        sortBy: [SortDescriptor(\Volume.title)],
        modelContext: ModelContext(container)
      )
      for await change in observer.changes where change.results.count == 3 {
        return change.results.map(\.title).joined()
      }
      return "cancelled"
    }
    for letter in "bca" { try await Importer(modelContainer: container).add(String(letter)) }
    #expect(try await titles.value == "abc")
  }
}

@ModelActor actor Follower {
  func titles(until count: Int) async throws -> String {
    let observer = try ResultsObserver(
      sortBy: [SortDescriptor(\Volume.title)],
      modelContext: modelContext
    )
    for await change in observer.changes where change.results.count == count {
      return change.results.map(\.title).joined()
    }
    return "cancelled"
  }
}
