import ArgumentParser
import SwiftData

@main
struct TodoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Todo",
    abstract: "A list of things to do, kept with SwiftData models.",
    subcommands: [Add.self, List.self, Done.self, Remove.self, Labels.self],
    defaultSubcommand: List.self
  )
}

struct StoreOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store; the program's own in the user's data folder, if not given.",
      valueName: "path"
    )
  )
  var store: String?

  func open() throws -> TodoList {
    guard let store else { return TodoList(try ModelContainer(for: Todo.self, Label.self)) }
    return TodoList(
      try ModelContainer(
        for: Todo.self,
        Label.self,
        configurations: ModelConfiguration(url: URL(filePath: store))
      )
    )
  }
}

/// A day as it is typed and printed: 2026-12-01, in the user's time zone.
struct Day: ExpressibleByArgument {
  let date: Date

  private static var style: Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
  }

  init?(argument: String) {
    guard let date = try? Day.style.parse(argument) else { return nil }
    self.date = date
  }

  static func text(_ date: Date) -> String { date.formatted(style) }
}

extension TodoCommand {
  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds something to do.")
    @OptionGroup var place: StoreOption
    @Argument(help: "What is to be done.") var title: String
    @Option(help: ArgumentHelp("The day it is due.", valueName: "yyyy-mm-dd")) var due: Day?
    @Option(name: [.short, .long], help: "A label; may be given more than once.") var label:
      [String] = []

    func run() throws {
      let todo = try place.open().add(title, due: due?.date, labels: label)
      print("added \(todo.number)")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists what is to be done, the most urgent first."
    )
    @OptionGroup var place: StoreOption
    @Flag(help: "Lists what is done instead.") var done = false
    @Option(name: [.short, .long], help: "Only what has this label.") var label: String?
    @Option(help: ArgumentHelp("Only what is due before a day.", valueName: "yyyy-mm-dd"))
    var before: Day?

    func run() throws {
      let filter = TodoList.Filter(isDone: done, label: label, dueBefore: before?.date)
      for todo in try place.open().todos(filter) {
        let labels = todo.labels.map { " #" + $0.name }.sorted().joined()
        let due = todo.due.map { " (due \(Day.text($0)))" } ?? ""
        print("\(todo.number). \(todo.title)\(due)\(labels)")
      }
    }
  }

  struct Done: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Marks things as done.")
    @OptionGroup var place: StoreOption
    @Argument(help: "Their numbers.") var numbers: [Int]

    func run() throws {
      let (todos, missing) = try place.open().finish(numbers, at: .now)
      for todo in todos { print("done: \(todo.title)") }
      try refuse(missing)
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes things from the list.")
    @OptionGroup var place: StoreOption
    @Argument(help: "Their numbers.") var numbers: [Int]

    func run() throws {
      let (count, missing) = try place.open().remove(numbers)
      print("removed \(count)")
      try refuse(missing)
    }
  }

  struct Labels: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the labels with the number of open todos."
    )
    @OptionGroup var place: StoreOption

    func run() throws {
      for (name, count) in try place.open().labels() { print("#\(name) \(count)") }
    }
  }
}

extension ParsableCommand {
  fileprivate func refuse(_ missing: [Int]) throws {
    if missing.isEmpty { return }
    throw ValidationError(
      "nothing on the list has the number \(missing.map(String.init).joined(separator: ", "))"
    )
  }
}
