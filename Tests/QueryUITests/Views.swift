import Observation
import SwiftData
import TextScreen
import TextScreenData

// What the tests of queries in views show: games, drawn on a screen of text.

@Model final class Game {
  var title: String
  var players: Int
  var released: Date?

  init(_ title: String, players: Int = 2, released: Date? = nil) {
    self.title = title
    self.players = players
    self.released = released
  }
}

/// What a query has in a framework that does not track what it draws.
struct CalledQueryProperties: QueryProperties, @preconcurrency DynamicProperty {
  @Environment(\.modelContext) var modelContext
  @Environment(\.redraw) private var redraw
  @State var storage = QueryStorage()

  init() {}

  func update() { storage.onChange = redraw }
}

/// The same where changes are animated: a transaction is a name, which is noted.
struct AnimatedProperties: AnimatedQueryProperties, @preconcurrency DynamicProperty {
  @Environment(\.modelContext) var modelContext
  @Environment(\.redraw) private var redraw
  @State var storage = QueryStorage()
  static var performed: [String] = []

  init() {}

  func update() { storage.onChange = redraw }

  static func transaction(animatedBy animation: Int) -> String { "animation \(animation)" }

  static func perform(_ transaction: String, _ change: () -> Void) {
    performed.append(transaction)
    change()
  }
}

/// What a test changes from outside.
@Observable final class Control {
  var players = 0
  var container: ModelContainer

  init(_ container: ModelContainer) { self.container = container }
}

struct GameRoom<Properties: QueryProperties & DynamicProperty>: View {
  let control: Control

  var body: some View {
    GameList<Properties>(players: control.players).modelContainer(control.container)
  }
}

struct GameList<Properties: QueryProperties & DynamicProperty>: View {
  @ModelQuery<Game, Properties> private var games: [Game]

  init(players: Int) {
    _games = ModelQuery(filter: #Predicate { $0.players >= players }, sort: \.players)
  }

  var body: some View {
    ForEach(games) { game in Text(game.title) }
    Text(_games.fetchError.map { _ in "failed" } ?? "\(games.count)")
  }
}

/// Says whether a view's context is the main one of its container.
struct MainContextLine: View {
  @Environment(\.modelContext) private var context

  var body: some View {
    Text(context.container.mainContext === context ? "main" : "another")
  }
}

/// What is typed into a field above a list.
@Observable final class SearchedText { var text = "" }

struct SearchRoom: View {
  let text: SearchedText

  var body: some View { SearchedGames(text.text) }
}

struct SearchedGames: View {
  @Query private var games: [Game]

  init(_ text: String) {
    _games = Query(filter: #Predicate { text.isEmpty || $0.title.localizedStandardContains(text) })
  }

  var body: some View { ForEach(games) { game in Text(game.title) } }
}

/// Every way to write a query, as files for SwiftUI write them.
struct Spellings: View {
  @Query private var all: [Game]
  @Query() private var none: [Game]
  @Query(sort: \.title) private var titled: [Game]
  @Query(sort: \Game.released, order: .reverse) private var newest: [Game]
  @Query(filter: #Predicate<Game> { $0.players > 2 }) private var many: [Game]
  @Query(filter: #Predicate { $0.players > 2 }, sort: \.title, order: .reverse) private var last:
    [Game]
  @Query(sort: [SortDescriptor(\Game.players, order: .reverse), SortDescriptor(\Game.title)])
  private var sorted: [Game]
  @Query(filter: #Predicate { $0.players == 2 }, sort: [SortDescriptor(\.title)]) private var pairs:
    [Game]
  @Query(Spellings.first) private var first: [Game]

  static var first: FetchDescriptor<Game> {
    var descriptor = FetchDescriptor<Game>(sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = 1
    return descriptor
  }

  var body: some View {
    ForEach(lists) { list in Text(list.id + " " + list.games.map(\.title).joined()) }
  }

  private struct GameList: Identifiable {
    let id: String
    let games: [Game]
  }

  private var lists: [GameList] {
    [
      ("all", all), ("none", none), ("titled", titled), ("newest", newest), ("many", many),
      ("last", last), ("sorted", sorted), ("pairs", pairs), ("first", first),
    ].map { GameList(id: $0.0, games: $0.1) }
  }
}

/// The same with transactions and animations.
struct AnimatedSpellings: View {
  typealias Query = ModelQuery<Game, AnimatedProperties>

  @Query(animation: 1) private var all: [Game]
  @Query(filter: #Predicate { $0.players > 2 }, sort: \.title, animation: 2) private var many:
    [Game]
  @Query(sort: \.released, order: .reverse, transaction: "slowly") private var newest: [Game]
  @Query(sort: [SortDescriptor(\.title)], animation: 3) private var titled: [Game]
  @Query(Spellings.first, animation: 4) private var first: [Game]
  @Query(Spellings.first, transaction: nil) private var calm: [Game]

  var body: some View {
    Text([all, many, newest, titled, first, calm].map { "\($0.count)" }.joined(separator: " "))
  }
}

/// A list whose changes are animated.
struct AnimatedList: View {
  @ModelQuery<Game, AnimatedProperties>(sort: \.title, animation: 7) private var games: [Game]

  var body: some View { Text(games.map(\.title).joined()) }
}
