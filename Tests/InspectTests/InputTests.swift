import ArgumentParser
import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `Input that makes no sense` {
  static let errors: [(name: String, arguments: [String])] = [
    ("error-no-path", ["summary", "nowhere/at.all"]),
    ("error-file", ["summary", "towns.store/LOCK"]),
    ("error-empty-folder", ["verify", "empty"]),
    ("error-empty-folder-frames", ["frames", "empty"]),
    ("error-empty-folder-segments", ["segments", "empty"]),
    ("error-entity", ["dump", "towns.store", "--entity", "Twon"]),
    ("error-entity-unlike-any", ["dump", "towns.store", "--entity", "Kangaroo"]),
    ("error-key-absent", ["get", "towns.store", "Town", "99"]),
    ("error-key-word", ["get", "towns.store", "Town", "Porto"]),
    ("error-row-name", ["get", "towns.store", "Town"]),
    ("error-segment", ["frames", "towns.store", "9"]),
    ("error-commit-later", ["dump", "towns.store", "--at", "99"]),
    ("error-csv-of-all", ["dump", "towns.store", "--format", "csv"]),
    ("error-diff-entity", ["diff", "towns.store@3", "@9", "--entity", "Twon"]),
    ("error-diff-path", ["diff", "towns.store", "towns.store@x"]),
    ("error-salvage-path", ["salvage", "nowhere", "saved.store"]),
  ]

  @Test(arguments: errors)
  func `is answered with what was expected`(_ name: String, _ arguments: [String]) throws {
    let store = try TownStore()
    try store.disk.makeDirectory("empty")
    let result = try Session(disk: store.disk).run(arguments)
    #expect(result.status == .usage)
    try expectSnapshot(result.transcript, name)
  }

  @Test(arguments: [
    ["dump"], ["dump", "--format", "xml", "x"], ["unheard"], ["dump", "--limit", "-1", "x"],
    ["dump", "--key", "9-3", "x"], ["history", "--last", "0", "x"], ["frames", "x", "one"],
    ["tail", "x", "-n", "-1"], ["tail", "x", "-f", "--format", "json"],
    ["tail", "x", "--interval", "0"], ["top", "x", "--interval", "0"],
    ["top", "x", "--count", "0"],
    ["top", "x", "--format", "json"],
    ["summary", "/nowhere/at.all"], ["summary", "/etc"], ["summary", "/etc/hostname"],
  ])
  func `ends the process with 1`(arguments: [String]) {
    #expect(Inspect.run(arguments) == .usage)
  }

  @Test(
    arguments: [
      ("Trip", ["Trip", "Plane"], "Trip"), ("trip", ["Plane", "Trip"], "Trip"),
      ("Trp", ["Plane", "Trip"], "Trip"), ("Tirp", ["Plane", "Trip"], "Trip"),
      ("dest", ["destination", "delay"], "destination"), ("de", ["destination", "delay"], nil),
      ("Plan", ["Plane", "Trip"], "Plane"), ("Kangaroo", ["Plane", "Trip"], nil), ("x", [], nil),
    ] as [(String, [String], String?)]
  )
  func `is compared with the names there are`(name: String, names: [String], nearest: String?) {
    #expect(NearestName.of(name, among: names) == nearest)
  }

  @Test(
    arguments: [
      ("17", 17...17), ("10-20", 10...20), ("10-", 10...UInt64.max), ("0", 0...0), ("20-10", nil),
      ("", nil), ("-", nil), ("-5", nil), ("1-2-3", nil), ("a", nil), ("1-b", nil),
    ] as [(String, ClosedRange<UInt64>?)]
  )
  func `is no range of numbers`(text: String, bounds: ClosedRange<UInt64>?) {
    #expect(NumberRange(argument: text)?.bounds == bounds)
  }
}

@Suite struct `Help` {
  static let commands = [
    "summary", "dump", "get", "query", "shell", "count", "export", "import", "schema", "blobs",
    "history",
    "tail", "top", "diff", "segments", "frames", "verify", "report", "backup", "compact", "salvage",
    "move",
  ]

  @Test(arguments: commands)
  func `of each command has examples that parse, and the exit codes`(command: String) throws {
    let type = try #require(
      Inspect.configuration.groupedSubcommands.flatMap { $0.subcommands }
        .first { $0._commandName == command }
    )
    let discussion = type.configuration.discussion
    #expect(discussion.hasSuffix(ToolStatus.help))
    let examples = discussion.split(separator: "\n")
      .filter { $0.hasPrefix("  logstore-inspect \(command) ") }
    #expect(!examples.isEmpty)
    for example in examples {
      #expect(throws: Never.self) { try Inspect.parseAsRoot(words(of: example)) }
    }
  }

  /// What a shell makes of a line: the words after the program's name, up to a pipe or a redirection.
  private func words(of line: Substring) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    for character in line {
      switch character {
      case "'": (word, isQuoted) = (word ?? "", !isQuoted)
      case "|" where !isQuoted, ">" where !isQuoted, "<" where !isQuoted, "&" where !isQuoted:
        return Array(words.dropFirst())
      case " " where !isQuoted:
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return Array(words.dropFirst())
  }

  @Test func `names every command there is`() {
    // Key paths into metatypes end the compiler of Swift 6.3.1.
    let names = Inspect.configuration.groupedSubcommands.flatMap { $0.subcommands }
      .map { $0._commandName }
    #expect(names.sorted() == Self.commands.sorted())
  }

  @Test func `completes the entities of the store on the command line`() throws {
    let store = try TownStore()
    let words = ["logstore-inspect", "dump", "--format", "csv", "towns.store", "--entity", ""]
    #expect(EntityCompletion.names(words, on: store.disk) == ["Note", "Photo", "Town"])
    #expect(EntityCompletion.names(["logstore-inspect", "dump"], on: store.disk).isEmpty)
  }
}
