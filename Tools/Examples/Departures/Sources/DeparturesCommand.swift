import ArgumentParser
import SwiftData
import TextScreen

@main
struct DeparturesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Departures",
    abstract: "A board of departures, which shows what other processes save.",
    subcommands: [Board.self, Announce.self, Delay.self, Cancel.self, Measure.self],
    defaultSubcommand: Board.self
  )
}

struct StoreOption: ParsableArguments {
  @Option(help: ArgumentHelp("The store.", valueName: "path")) var store = "departures.store"

  func open() throws -> ModelContainer { try Departure.container(at: URL(filePath: store)) }
}

extension DeparturesCommand {
  struct Board: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows the board until ^C.")
    @OptionGroup var place: StoreOption

    @MainActor func run() async throws {
      let board = DepartureBoard().modelContainer(try place.open())
      let screen = Screen(board) { lines in
        FileHandle.standardOutput.write(Data(TerminalText.drawing(lines).utf8))
      }
      defer { screen.close() }
      while !Task.isCancelled { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  struct Announce: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds a departure.")
    @OptionGroup var place: StoreOption
    @Argument(help: "Its number.") var number: Int
    @Argument(help: "Where it goes.") var destination: String
    @Option(name: .customLong("in"), help: "Minutes until it leaves.") var minutes = 30

    func run() throws {
      let context = ModelContext(try place.open())
      context.insert(Departure(number, to: destination, due: .now + Double(minutes) * 60))
      try context.save()
    }
  }

  struct Delay: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Says that a departure is late.")
    @OptionGroup var place: StoreOption
    @Argument(help: "Its number.") var number: Int
    @Argument(help: "Minutes.") var minutes: Int

    func run() throws {
      let context = ModelContext(try place.open())
      try Departure.find(number, in: context).delay = minutes
      try context.save()
    }
  }

  struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a departure.")
    @OptionGroup var place: StoreOption
    @Argument(help: "Its number.") var number: Int

    func run() throws {
      let context = ModelContext(try place.open())
      context.delete(try Departure.find(number, in: context))
      try context.save()
    }
  }
}

enum TerminalText {
  /// The text that has a terminal show lines, and nothing else, without a flicker.
  static func drawing(_ lines: [String]) -> String {
    "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J"
  }
}
