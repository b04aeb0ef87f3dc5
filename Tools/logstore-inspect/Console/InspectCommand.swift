import ArgumentParser
import LogEngine
import Terminal

/// A command of the inspector.
protocol InspectCommand: ParsableCommand {
  /// The store it works on, for errors that name none.
  var path: String { get }
  var output: OutputOptions { get }

  /// Does the work; the output before an error is shown all the same.
  func run(in console: Console) throws
}

extension InspectCommand {
  func run() throws {
    let console = Console(colour: output.color)
    defer { console.flush() }
    try perform(in: console)
  }

  /// Does the work, and turns the engine's errors into the tool's.
  func perform(in console: Console) throws(ToolError) {
    do {
      try run(in: console)
      console.flush()
    } catch {
      // The output before the damage is worth having, and comes before the error.
      console.flush()
      switch error {
      case let error as ToolError: throw error
      case let error as StorageError: throw ToolError(error, at: path)
      default: throw ToolError("\(error)", place: path)
      }
    }
  }
}

/// The options of a command's output.
struct OutputOptions: ParsableArguments {
  @Option(help: "How results are printed: text, json (one value), ndjson (one a line) or csv.")
  var format: OutputFormat = .text

  @Option(help: "When to use colours: auto (on a terminal, unless NO_COLOR is set), always, never.")
  var color: ColourChoice = .auto
}

/// The form of a result.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
  /// For people.
  case text
  /// One value of JSON: an object, or an array with an element a line.
  case json
  /// A JSON object a line.
  case ndjson
  /// Comma-separated values (RFC 4180) under a header.
  case csv
}

/// The use of colours.
enum ColourChoice: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}

/// The store that is looked at, and the way to read it.
struct StoreOptions: ParsableArguments {
  @Argument(help: "The folder of the store.", completion: .directory)
  var path: String

  @Flag(help: "Read files instead of mapping them: for disks with read errors.")
  var unmapped = false

  var reads: EngineOptions.ReadMethod { unmapped ? .copied : .mapped }
}

/// Whether tables and columns are shown that no app declares.
struct VisibilityOptions: ParsableArguments {
  @Flag(help: "Also tables and columns the store keeps for itself, and columns no longer in use.")
  var all = false

  var visibility: InspectedStore.Visibility { all ? .all : .declared }
}
