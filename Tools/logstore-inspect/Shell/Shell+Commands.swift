import ArgumentParser
import LogEngine
import Terminal

/// Commands that begin with a point.
extension Shell {
  /// Executes a command.
  func execute(_ line: String) throws {
    var words = ShellWords.split(line)
    let command = try DotCommand(named: String(words.removeFirst().dropFirst()))
    // A semicolon ends questions, and out of habit commands.
    if let last = words.last, last.hasSuffix(";") {
      words[words.count - 1] = String(last.dropLast())
      if last == ";" { words.removeLast() }
    }
    guard command.argumentCount.contains(words.count) else { throw command.usageError }
    let argument = words.first
    switch command {
    case .exit, .quit: end()
    case .help: try help(argument)
    case .show: show()
    case .history: listHistory(try number(argument, for: command) ?? 20)
    case .mode: settings.mode = try choice(argument, settings.mode, for: command)
    case .headers:
      let isOn = try isOn(argument, settings.header == .shown, for: command)
      settings.header = isOn ? .shown : .hidden
    case .explain: settings.explains = try isOn(argument, settings.explains, for: command)
    case .timer: settings.isTimed = try isOn(argument, settings.isTimed, for: command)
    case .limit: try setLimit(argument)
    case .output: file = try argument.map { try FileOutput($0, beside: screen) }
    case .once: fileOnce = try argument.map { try FileOutput($0, beside: screen) }
    case .read: if let argument { try read(argument) }
    case .open: if let argument { try open(argument) }
    case .tables: try run(CountCommand.self) { try $0.show(store, in: console) }
    case .schema:
      try run(SchemaCommand.self, options: argument.map { ["--entity=\($0)"] } ?? []) {
        try $0.show(store, in: console)
      }
    case .get: try run(Get.self, words) { try $0.show(store, in: console) }
    case .commits:
      let count = max(try number(argument, for: command) ?? 10, 1)
      try run(History.self, options: ["--last=\(count)"]) { try $0.show(store, in: console) }
    }
  }

  /// Runs a command of the tool, with the newest commit of the store that is open.
  private func run<Command: InspectCommand>(
    _ type: Command.Type,
    options: [String] = [],
    _ arguments: [String] = [],
    _ body: (Command) throws -> Void
  ) throws {
    try look()
    // A word after `--` is never an option, whatever it begins with.
    let words = ["--format", settings.mode.format.rawValue] + options
    try body(try type.parse(words + ["--", store.path] + arguments))
  }
}

// MARK: Settings

extension Shell {
  private func isOn(_ word: String?, _ current: Bool, for command: DotCommand) throws -> Bool {
    switch word?.lowercased() {
    case "on", "yes", "1": return true
    case "off", "no", "0": return false
    case nil:
      console.line("\(command.rawValue) is \(current ? "on" : "off")")
      return current
    default: throw command.usageError
    }
  }

  private func choice(
    _ word: String?,
    _ current: ShellSettings.Mode,
    for command: DotCommand
  ) throws -> ShellSettings.Mode {
    guard let word else {
      console.line("\(command.rawValue) is \(current.rawValue)")
      return current
    }
    if let choice = ShellSettings.Mode(rawValue: word.lowercased()) { return choice }
    let names = ShellSettings.Mode.allCases.map(\.rawValue)
    throw ToolError(
      "there is no such mode",
      expected: names.joined(separator: ", "),
      found: word.printable,
      advice: NearestName.of(word, among: names).map { ".mode \($0)?" }
    )
  }

  private func number(_ word: String?, for command: DotCommand) throws -> Int? {
    guard let word else { return nil }
    guard let number = Int(word), number >= 0 else { throw command.usageError }
    return number
  }

  private func setLimit(_ word: String?) throws {
    switch word?.lowercased() {
    case nil: console.line("limit is \(limitText)")
    case "off", "none": settings.limit = .none
    case "screen": settings.limit = .screenful
    default: settings.limit = .rows(try number(word, for: .limit) ?? 0)
    }
  }

  private var limitText: String {
    switch settings.limit {
    case .none: return "off"
    case .rows(let count): return "\(count)"
    case .screenful:
      let count = settings.limit.rowCount(height: screen.screen.height)
      return "screen, " + (count.map { $0.counted("row") } ?? "which is all rows without one")
    }
  }

  private func show() {
    var table = TextTable([.init(""), .init("")])
    table.append(["store", store.path.printable])
    table.append(["mode", settings.mode.rawValue])
    table.append(["headers", settings.header == .shown ? "on" : "off"])
    table.append(["limit", limitText])
    table.append(["explain", settings.explains ? "on" : "off"])
    table.append(["timer", settings.isTimed ? "on" : "off"])
    table.append(["output", file?.path.printable ?? "the screen"])
    console.print(table)
  }

  private func listHistory(_ count: Int) {
    for line in input.history.lines.suffix(count) { console.clippedLine(line.printable) }
  }
}

// MARK: Help

extension Shell {
  private func help(_ word: String?) throws {
    guard let word else { return helpWithAll() }
    let name = word.hasPrefix(".") ? String(word.dropFirst()) : word
    if "questions".hasPrefix(name.lowercased()), name.count > 2 { return helpWithQuestions() }
    let command = try DotCommand(named: name)
    console.line(command.usage)
    console.line(command.summary)
    if let details = command.details { console.line(details) }
  }

  private func helpWithAll() {
    var table = TextTable([.init(""), .init("")])
    for command in DotCommand.allCases { table.append([command.usage, command.summary]) }
    console.print(table)
    console.line()
    console.line("A question is an entity and what is asked of it; `.help questions` shows how:")
    console.line("  " + (exampleQuestions.first ?? ""))
  }

  private func helpWithQuestions() {
    console.line(
      """
      [explain] ENTITY [where CONDITION] [columns LIST] [group by LIST] [sort LIST]
                       [limit N] [offset N] [at COMMIT]
      [explain] count [ENTITY [where CONDITION]] [at COMMIT]

      Conditions: == != < <= > >= in [1, 2] in 1...5 contains startsWith endsWith is nil && || !
      Figures:    count distinct(c) sum(c) avg(c) min(c) max(c)
      Texts and dates stand between quotes, names like words of the language between backticks.
      A line goes on with the next while a quote or a parenthesis is open.

      """
    )
    for line in exampleQuestions { console.line("  " + line) }
  }

  /// Questions about the store that is open.
  private var exampleQuestions: [String] {
    guard let table = store.tables.max(by: { rowCount(of: $0) < rowCount(of: $1) }) else {
      return []
    }
    let entity = table.name.asQuestionName.printable
    let columns = store.columns(of: table)
    let names = columns.prefix(3).map { $0.name.asQuestionName.printable }
    let number = columns.first { [.integer, .double].contains($0.type) }
    var lines = ["\(entity) limit 5"]
    if let name = names.first {
      lines.append("\(entity) where \(name) is not nil columns \(names.joined(separator: ", "))")
      lines.append("\(entity) group by \(name) sort -count")
    }
    if let number {
      let name = number.name.asQuestionName.printable
      lines.append("count \(entity) where \(name) > 0")
      lines.append("\(entity) columns avg(\(name)), max(\(name))")
    }
    return lines
  }

  private func rowCount(of table: TableDefinition) -> Int { store.view.rowCount(of: table.number) }
}
