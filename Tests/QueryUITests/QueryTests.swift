import Synchronization
import SwiftData
import Testing
import TextScreen
import TextScreenData

@MainActor @Suite(.timeLimit(.minutes(30))) struct `A query in a view` {
  /// How the framework learns that a view is out of date.
  enum Framework: CaseIterable { case tracks, isCalled }

  /// What was drawn.
  @MainActor final class Drawings {
    private(set) var all: [String] = []
    private var screen: AnyObject?
    private var redraws: @MainActor () -> Void = {}

    init<Content: View>(_ content: Content, _ framework: Framework = .tracks) {
      let screen = Screen(content, tracking: framework == .tracks ? .observation : .redrawOnly) {
        [weak self] lines in self?.all.append(lines.joined(separator: " "))
      }
      redraws = { [weak screen] in screen?.redraw() }
      self.screen = screen
      redraw()
    }

    func redraw() { redraws() }

    func wait(for drawing: String) async {
      while all.last != drawing { await Task.yield() }
    }
  }

  private let container: ModelContainer
  private var context: ModelContext { container.mainContext }

  init() throws { container = try Self.makeContainer() }

  private static func makeContainer() throws -> ModelContainer {
    try ModelContainer(
      for: Game.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  private func room(_ framework: Framework) -> (Control, Drawings) {
    let control = Control(container)
    return switch framework {
    case .tracks: (control, Drawings(GameRoom<ViewQueryProperties>(control: control), framework))
    case .isCalled:
      (control, Drawings(GameRoom<CalledQueryProperties>(control: control), framework))
    }
  }

  @Test(arguments: Framework.allCases)
  func `shows what comes, goes and changes`(framework: Framework) async throws {
    let (_, drawings) = room(framework)
    await drawings.wait(for: "0")
    let chess = Game("chess")
    context.insert(chess)
    await drawings.wait(for: "chess 1")
    context.insert(Game("bridge", players: 4))
    await drawings.wait(for: "chess bridge 2")
    chess.title = "go"
    await drawings.wait(for: "go bridge 2")
    chess.players = 5
    await drawings.wait(for: "bridge go 2")
    context.delete(chess)
    await drawings.wait(for: "bridge 1")
    try context.save()
  }

  @Test(arguments: Framework.allCases)
  func `shows what another context saves, down to one attribute`(framework: Framework) async throws
  {
    let (_, drawings) = room(framework)
    let other = ModelContext(container)
    let chess = Game("chess")
    other.insert(chess)
    try other.save()
    await drawings.wait(for: "chess 1")
    chess.title = "go"
    try other.save()
    await drawings.wait(for: "go 1")
    other.delete(chess)
    try other.save()
    await drawings.wait(for: "0")
  }

  @Test(arguments: Framework.allCases)
  func `follows the fetch that its view is made with, and the container around it`(
    framework: Framework
  ) async throws {
    let (control, drawings) = room(framework)
    context.insert(Game("chess"))
    context.insert(Game("bridge", players: 4))
    await drawings.wait(for: "chess bridge 2")
    control.players = 3
    drawings.redraw()
    await drawings.wait(for: "bridge 1")
    context.insert(Game("catan", players: 3))
    await drawings.wait(for: "catan bridge 2")
    let other = try Self.makeContainer()
    other.mainContext.insert(Game("rugby", players: 30))
    control.container = other
    drawings.redraw()
    await drawings.wait(for: "rugby 1")
    other.mainContext.insert(Game("tug of war", players: 16))
    await drawings.wait(for: "tug of war rugby 2")
  }

  @Test func `fetches nothing when its view is drawn again without a change`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let fetches = Mutex(0)
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.slowFetchThreshold = .zero
    configuration.onSlowFetch = { _ in fetches.withLock { $0 += 1 } }
    let container = try ModelContainer(for: Game.self, configurations: configuration)
    let control = Control(container)
    let drawings = Drawings(GameRoom<ViewQueryProperties>(control: control))
    container.mainContext.insert(Game("chess"))
    await drawings.wait(for: "chess 1")
    #expect(fetches.withLock { $0 } == 1)
    for _ in 1...3 {
      let count = drawings.all.count
      drawings.redraw()
      while drawings.all.count == count { await Task.yield() }
    }
    #expect(fetches.withLock { $0 } == 1)
    control.players = 1
    drawings.redraw()
    container.mainContext.insert(Game("bridge", players: 4))
    await drawings.wait(for: "chess bridge 2")
    #expect(fetches.withLock { $0 } == 2)
  }

  @Test func `searches for the text that its view is made with`() async throws {
    for title in ["chess", "bridge", "catan"] { context.insert(Game(title)) }
    let text = SearchedText()
    let drawings = Drawings(SearchRoom(text: text).modelContainer(container))
    await drawings.wait(for: "chess bridge catan")
    text.text = "C"
    drawings.redraw()
    await drawings.wait(for: "chess catan")
    text.text = "CH"
    drawings.redraw()
    await drawings.wait(for: "chess")
  }

  @Test func `shows nothing without a container, and says why`() async throws {
    let drawings = Drawings(GameList<ViewQueryProperties>(players: 0))
    await drawings.wait(for: "failed")
  }

  @Test func `can be written in every way`() async throws {
    for (title, players, year) in [("b", 2, 2.0), ("a", 3, 3), ("c", 2, 1)] {
      context.insert(Game(title, players: players, released: Date(timeIntervalSince1970: year)))
    }
    try context.save()
    let drawings = Drawings(Spellings().modelContainer(container))
    await drawings.wait(
      for: "all bac none bac titled abc newest abc many a last a sorted abc pairs bc first a"
    )
    let animated = Drawings(AnimatedSpellings().modelContainer(container), .isCalled)
    await animated.wait(for: "3 1 3 3 1 1")
  }

  @Test func `has its changes drawn within its transaction`() async throws {
    let drawings = Drawings(AnimatedList().modelContainer(container), .isCalled)
    context.insert(Game("chess"))
    await drawings.wait(for: "chess")
    // Once, or once more for the save that the main context makes by itself; other tests perform theirs.
    #expect(AnimatedProperties.performed.contains("animation 7"))
  }

  @Test func `finds the container that a modifier opens once`() async throws {
    var containers: [ModelContainer] = []
    let view = GameList<ViewQueryProperties>(players: 0)
      .modelContainer(for: Game.self, inMemory: true, isAutosaveEnabled: false) { container in
        #expect(throws: Never.self) { containers.append(try container.get()) }
      }
    let drawings = Drawings(view)
    await drawings.wait(for: "0")
    let context = try #require(containers.first).mainContext
    #expect(!context.autosaveEnabled)
    context.insert(Game("chess"))
    await drawings.wait(for: "chess 1")
    #expect(containers.count == 1)
  }

  @Test func `has the main context of its container, though nothing holds that`() throws {
    let own = Drawings(MainContextLine().modelContainer(for: Game.self, inMemory: true))
    #expect(own.all == ["main"])
    let given = Drawings(MainContextLine().modelContainer(try Self.makeContainer()))
    #expect(given.all == ["main"])
  }
}

@MainActor @Suite(.timeLimit(.minutes(30))) struct `The article on queries in views shows` {
  @Test func `queries that a view makes, and what went wrong`() async throws {
    let container = try ModelContainer(
      for: Departure.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    container.mainContext.insert(Departure(2, to: "Oslo", delay: 10))
    container.mainContext.insert(Departure(1, to: "Rome", delay: 20))
    container.mainContext.insert(Departure(3, to: "Bern"))
    var lines: [String] = []
    func show<Content: View>(_ view: Content) {
      _ = Screen(view.modelContainer(container)) { lines = $0 }
    }
    show(LateDepartures(by: 10))
    #expect(lines == ["Rome", "Oslo"])
    show(DepartureSpellings())
    #expect(lines == ["213 321 12"])
    _ = Screen(LateDepartures(by: 10)) { lines = $0 }
    #expect(lines.count == 1)
  }
}
