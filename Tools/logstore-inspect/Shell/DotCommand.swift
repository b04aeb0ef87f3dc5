import Terminal

/// A command of the shell itself: its line begins with a point, as in `sqlite3`.
enum DotCommand: String, CaseIterable {
  case commits, exit, explain, get, headers, help, history, limit, mode, once, open, output, quit,
    read, schema, show, tables, timer

  /// The command of a name, which may be cut short as long as one alone begins so.
  ///
  /// - Throws: ``ToolError`` with the nearest name.
  init(named name: String) throws(ToolError) {
    let name = name.lowercased()
    if let command = DotCommand(rawValue: name) ?? Self.synonyms[name] {
      self = command
      return
    }
    let names = Self.allCases.map(\.rawValue) + Self.synonyms.keys.sorted()
    let begun = names.filter { !name.isEmpty && $0.hasPrefix(name) }
    let commands = Set(begun.compactMap { DotCommand(rawValue: $0) ?? Self.synonyms[$0] })
    if commands.count == 1, let command = commands.first {
      self = command
      return
    }
    throw ToolError(
      "there is no such command",
      expected: commands.isEmpty
        ? nil : begun.map { "." + $0 }.sorted().joined(separator: " or "),
      found: ".\(name.printable)",
      advice: NearestName.of(name, among: names).map { ".\($0)?" } ?? "`.help` lists them"
    )
  }

  static let synonyms: [String: DotCommand] = ["entities": .tables]

  /// The command with its arguments.
  var usage: String {
    let arguments =
      switch self {
      case .commits: "[N]"
      case .explain, .headers, .timer: "on|off"
      case .get: "ENTITY KEY"
      case .help: "[COMMAND|questions]"
      case .history: "[N]"
      case .limit: "N|off|screen"
      case .mode: ShellSettings.Mode.allCases.map(\.rawValue).joined(separator: "|")
      case .once, .read: "FILE"
      case .open: "STORE"
      case .output: "[FILE]"
      case .schema: "[ENTITY]"
      case .exit, .quit, .show, .tables: ""
      }
    return ".\(rawValue)" + (arguments.isEmpty ? "" : " " + arguments)
  }

  /// A summary of the command, in half a line.
  var summary: String {
    switch self {
    case .commits: "the last commits: who, when, and what changed"
    case .exit, .quit: "end; so does Ctrl-D"
    case .explain: "say after each answer what was read for it"
    case .get: "an object, and the records that made it"
    case .headers: "whether names are above columns"
    case .help: "what there is to type"
    case .history: "the last lines that were entered"
    case .limit: "rows shown of a question without a limit"
    case .mode: "how results are printed"
    case .once: "write the next result to a file"
    case .open: "look into another store"
    case .output: "write results to a file, or to the screen again"
    case .read: "do what the lines of a file say"
    case .schema: "entities with their columns and types"
    case .show: "what these commands have set"
    case .tables: "entities and their rows; also .entities"
    case .timer: "say after each answer how long it took"
    }
  }

  /// Further details; `nil` if the summary says all.
  var details: String? {
    switch self {
    case .commits: "Ten, if N is missing. `logstore-inspect history --changes` shows the changes."
    case .get: "As `.get Trip 17` or `.get Trip/17`; keys are in the column key of each answer."
    case .limit:
      "screen, the default, is what the terminal has room for, and no limit without a terminal."
    case .mode:
      """
      table aligns columns and line gives each value a line of its own, for people; csv, json (one value) and \
      ndjson (a value a line) are for programs.
      """
    case .output, .once: "A file of that name is replaced."
    case .read:
      "One question or command a line; lines that begin with -- or # say nothing. Errors end none of it."
    default: nil
    }
  }

  /// The possible numbers of arguments.
  var argumentCount: ClosedRange<Int> {
    switch self {
    case .exit, .quit, .show, .tables: 0...0
    case .commits, .explain, .headers, .help, .history, .limit, .mode, .output, .schema, .timer:
      0...1
    case .once, .open, .read: 1...1
    case .get: 1...2
    }
  }

  /// The error for arguments that were not understood.
  var usageError: ToolError {
    ToolError("`.\(rawValue)` was not understood", expected: usage, advice: "`.help \(rawValue)`")
  }
}
