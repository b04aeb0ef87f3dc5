import Foundation
import SwiftData
import Synchronization
import Testing

@Suite struct `Code that tracks results` {
  let container: ModelContainer
  let context: ModelContext
  let volumes: [Volume]
  let notices = Notices()

  init() throws {
    container = try makeShelves()
    context = ModelContext(container)
    volumes = try context.addVolumes("bdf")
  }

  private func observer(
    filterBy: Predicate<Volume>? = nil
  ) throws -> ResultsObserver<Volume, Never> {
    try ResultsObserver(
      filterBy: filterBy,
      sortBy: [SortDescriptor(\.title)],
      modelContext: context
    )
  }

  @Test func `is notified once for each change, if it reads again`() throws {
    let observer = try observer()
    let changes: [() throws -> Void] = [
      { volumes[0].title = "x" },
      { volumes[0].title = "y" },
      { context.insert(Volume("a")) },
      { context.delete(volumes[1]) },
      { context.rollback() },
      { context.insert(Volume("c")) },
    ]
    for (number, change) in changes.enumerated() {
      notices.track { _ = observer.results }
      try change()
      #expect(notices.count == number + 1)
    }
  }

  @Test func `is notified once for many changes, if it does not`() throws {
    let observer = try observer()
    notices.track { _ = observer.results }
    for number in 0..<100 { context.insert(Volume("\(number)")) }
    try context.save()
    #expect(notices.count == 1)
    #expect(observer.results.count == 103)
  }

  @Test func `is not notified of changes that make no difference`() throws {
    let observer = try observer(filterBy: #Predicate { $0.title < "m" })
    notices.track { _ = observer.results }
    volumes[0].pages = 7
    volumes[0].pages = 8
    volumes[0].due = .distantPast
    context.insert(Volume("z"))
    context.insert(Shelf("west"))
    try context.save()
    context.rollback()
    #expect(notices.count == 0)
  }

  @Test func `is notified of sections that change`() throws {
    let sections = try ResultsObserver<Volume, String>(
      sectionBy: \.genre,
      modelContext: context
    )
    notices.track { _ = sections.sections }
    volumes[0].genre = "travel"
    #expect(notices.count == 1)
  }

  @Test func `is notified of another fetch descriptor`() throws {
    let observer = try observer()
    notices.track { _ = observer.filterBy }
    notices.track { _ = observer.results }
    observer.filterBy = #Predicate { $0.pages > 1 }
    #expect(notices.count == 2)
  }

  @Test func `sees the former results while it is notified`() throws {
    let observer = try observer()
    nonisolated(unsafe) let unsafe = observer
    let seen = Mutex("")
    withObservationTracking {
      _ = observer.results
    } onChange: {
      let titles = unsafe.titles
      seen.withLock { $0 = titles }
    }
    volumes[0].title = "z"
    #expect(seen.withLock { $0 } == "bdf")
    #expect(observer.titles == "dfz")
  }

  @Test func `is notified of a save of another context by the thread that saves`() throws {
    let observer = try observer()
    notices.track { _ = observer.results }
    try ModelContext(container).addVolumes("c")
    #expect(notices.count == 1)
    #expect(observer.titles == "bcdf")
  }

  /// Observation registers who has read once the reading is over: a save in between is heard by nobody.
  @Test func `is notified of the save after one that came before it waited`() throws {
    let observer = try observer()
    notices.track {
      _ = observer.results
      _ = try? ModelContext(container).addVolumes("c")
    }
    #expect(notices.count == 0)
    try ModelContext(container).addVolumes("e")
    #expect(notices.count == 1)
    #expect(observer.titles == "bcdef")
  }

  @Test func `is notified that a shelf's name changes, if the predicate reads it`() throws {
    let shelf = Shelf("west")
    volumes[0].shelf = shelf
    try context.save()
    let observer = try observer(filterBy: #Predicate { $0.shelf?.name == "east" })
    notices.track { _ = observer.results }
    shelf.name = "east"
    #expect(notices.count == 1)
    try context.save()
    #expect(observer.titles == "b")
  }
}

@MainActor @Suite struct `The main actor's observer` {
  let container: ModelContainer

  init() throws { container = try makeShelves() }

  @Test func `is notified of a background save at the next turn`() async throws {
    let observer = try ResultsObserver<Volume, Never>(modelContext: container.mainContext)
    let notices = Notices()
    notices.track { _ = observer.results }
    try await Importer(modelContainer: container).add("ab")
    await Task { @MainActor in }.value
    #expect(notices.count == 1)
    #expect(observer.titles == "ab")
  }

  @Test func `is not notified of a background save that makes no difference`() async throws {
    let observer = try ResultsObserver<Volume, Never>(
      filterBy: #Predicate { $0.pages > 100 },
      modelContext: container.mainContext
    )
    let notices = Notices()
    notices.track { _ = observer.results }
    try await Importer(modelContainer: container).add("ab")
    await Task { @MainActor in }.value
    #expect(notices.count == 0)
    #expect(observer.results.isEmpty)
  }

  @Test func `may have a context of its own`() async throws {
    let observer = try ResultsObserver<Volume, Never>(modelContainer: container)
    #expect(observer.modelContext != container.mainContext)
    try await Importer(modelContainer: container).add("a")
    #expect(observer.titles == "a")
  }

  @Test func `feeds an asynchronous sequence`() async throws {
    let observer = try ResultsObserver<Volume, Never>(
      sortBy: [SortDescriptor(\.title)],
      modelContext: container.mainContext
    )
    let titles = Observations { observer.titles }
    var seen: [String] = []
    for await value in titles {
      seen.append(value)
      switch value {
      case "": container.mainContext.insert(Volume("b"))
      case "b": try await Importer(modelContainer: container).add("a")
      default: break
      }
      if value == "ab" { break }
    }
    #expect(seen == ["", "b", "ab"])
  }
}

@Suite struct `A model actor's observer` {
  @Test(.timeLimit(.minutes(30)))
  func `is notified at the actor's next turn`() async throws {
    let container = try makeShelves()
    let watcher = Watcher(modelContainer: container)
    try await watcher.start()
    try await Importer(modelContainer: container).add("ba")
    while await watcher.noticeCount == 0, !Task.isCancelled { await Task.yield() }
    #expect(await watcher.titles == "ab")
  }
}

@ModelActor actor Importer {
  func add(_ titles: String) throws { try modelContext.addVolumes(titles) }
}

@ModelActor actor Watcher {
  private var observer: ResultsObserver<Volume, Never>?
  private let notices = Notices()

  var noticeCount: Int { notices.count }
  var titles: String { observer?.titles ?? "" }

  func start() throws {
    let observer = try ResultsObserver<Volume, Never>(
      sortBy: [SortDescriptor(\.title)],
      modelContext: modelContext
    )
    self.observer = observer
    notices.track { _ = observer.results }
  }
}
