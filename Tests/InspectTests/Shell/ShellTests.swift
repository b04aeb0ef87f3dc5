import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

/// The shell on a store of towns; lines come from a pipe unless somebody types them.
@Suite struct `The shell` {
  private let store: TownStore
  private let path: String

  init() throws {
    store = try TownStore()
    path = store.path
  }

  private func piped(_ lines: String..., width: Int? = nil) throws -> Session.Result {
    try piped(lines, width: width)
  }

  private func piped(_ lines: [String], width: Int? = nil) throws -> Session.Result {
    var session = Session(disk: store.disk)
    session.width = width
    session.lines = TextLines(lines)
    return try session.run("shell", path)
  }

  private func typed(_ lines: TypedLines, height: Int? = nil) throws -> Session.Result {
    var session = Session(disk: store.disk)
    session.lines = lines
    session.height = height
    return try session.run("shell", path)
  }

  @Test func `answers a question as the command does that asks the same`() throws {
    let session = Session(disk: store.disk)
    let asked = try session.run(
      "query",
      path,
      "Town",
      "--where",
      "name != \"Braga\"",
      "--columns",
      "name, mayor",
      "--sort",
      "-name",
      "--limit",
      "2"
    )
    let lines = [
      "Town where name != \"Braga\" columns name, mayor sort -name limit 2",
      "town WHERE name != \"Braga\" ORDER BY -name COLUMNS name, mayor LIMIT 2 ;",
    ]
    for line in lines {
      let result = try piped(line)
      #expect(result.error == nil, "\(result.transcript)")
      #expect(result.output == asked.output)
    }
    #expect(asked.output.contains("Lisbon"))
  }

  @Test(
    arguments: [
      (["count"], ["count"]),
      (["count Town where key > 1"], ["count", "Town", "--where", "key > 1"]),
      ([".tables"], ["count"]), ([".entities"], ["count"]), ([".schema"], ["schema"]),
      ([".schema Town"], ["schema", "--entity", "Town"]), ([".get Town 2"], ["get", "Town", "2"]),
      ([".get Town/2"], ["get", "Town/2"]), ([".commits 3"], ["history", "--last", "3"]),
      (["Town at 4"], ["query", "Town", "--at", "4"]),
      (["count Town at 4"], ["count", "Town", "--at", "4"]),
      (["count at 4"], ["count", "--at", "4"]),
      ([".mode json", "Town"], ["query", "Town", "--format", "json"]),
      ([".mode csv", "Town"], ["query", "Town", "--format", "csv"]),
      ([".mode ndjson", "Town"], ["query", "Town", "--format", "ndjson"]),
      ([".mode csv", "count"], ["count", "--format", "csv"]),
      ([".mode json", ".schema"], ["schema", "--format", "json"]),
      ([".mode ndjson", ".commits 2"], ["history", "--last", "2", "--format", "ndjson"]),
      (["# a comment", "-- another", "", "count"], ["count"]),
      (
        ["Town where name in (", "\"Lisbon\"", ")"],
        ["query", "Town", "--where", "name in (\"Lisbon\")"]
      ),
    ] as [([String], [String])]
  )
  func `prints what the commands of the tool print`(lines: [String], command: [String]) throws {
    var session = Session(disk: store.disk)
    var arguments = command
    arguments.insert(path, at: 1)
    let expected = try session.run(arguments)
    session.lines = TextLines(lines)
    let result = try session.run("shell", path)
    #expect(result.error == nil, "\(result.transcript)")
    #expect(!expected.output.isEmpty)
    #expect(result.output == expected.output)
  }

  @Test func `has a line for each value in the mode of lines, and no header if none is wanted`()
    throws
  {
    let lines = try piped(".mode line", "Town where key < 3 columns name, mayor")
    #expect(
      lines.output == " name = Lisbon\nmayor = –\n\n name = Invicta\nmayor = –\n2 rows\n"
    )
    let bare = try piped(".headers off", "Town where key < 3 columns key, name")
    #expect(bare.output == "1  Lisbon\n2  Invicta\n2 rows\n")
    let csv = try piped(".headers off", ".mode csv", "Town where key < 3 columns key, name")
    #expect(csv.output == "1,Lisbon\n2,Invicta\n")
  }

  /// Each line costs what it is long: otherwise this takes minutes.
  @Test func `takes as many lines as there are while a quote is open`() throws {
    let lines = ["Town where name == \"a"] + Array(repeating: "line of text", count: 20_000)
    let result = try piped(lines + ["\"", "count Town"])
    #expect(result.error == nil && result.status == .success)
    #expect(result.output.hasPrefix("0 rows\n"))
  }

  @Test func `goes on after a line that fails, and ends with a failure that names each`() throws {
    let result = try piped(
      "Tonw",
      "count Town",
      "Town where nmae == 1",
      ".mode tabel",
      "Town limit x"
    )
    #expect(result.status == .usage)
    #expect(result.error?.what == "4 lines failed")
    #expect(result.output.contains("Town"))
    try expectSnapshot(result.transcript, "shell-errors")
  }

  @Test(arguments: [
    "select * from Town", "SELECT name, mayor FROM Town WHERE key > 1 LIMIT 3", "select",
    "select count(*) from Town", "Town where", "Town limit 3 limit 4", "Town whre key > 1",
    "Town where (key > 1", "Town where name == \"Lis", ".get Town", ".get Town/99", ".get Town x",
    ".limit -1", ".headers maybe", ".open", ".open nowhere.store", ".read nothing.txt", ".", ".foo",
    ".e on", "count Town limit 3", "Town columns", "Town group by name columns founded",
    "Town at 99",
    "Town where name == \"a\" ; count", "17", "explain", "\"Town\"", ".schema Twon",
  ])
  func `says of what it cannot do what it is, and what would do`(line: String) throws {
    let result = try piped(line)
    #expect(result.status == .usage)
    #expect(result.output.isEmpty)
    #expect(result.notices.hasPrefix("error: line 1: "), "\(result.notices)")
    #expect(result.notices.contains("expected:") || result.notices.contains("try:"))
  }

  @Test func `shows in the whole line where the part is that it cannot understand`() throws {
    let result = try piped("Town where key > 1 columns nmae limit 3")
    #expect(
      result.notices.contains(
        """
          where:    Town where key > 1 columns nmae limit 3
                                               ^ character 28
        """
      )
    )
    #expect(result.notices.contains("columns cannot be understood"))
  }

  @Test func `does what its option says, and reads no lines then`() throws {
    var session = Session(disk: store.disk)
    session.lines = TextLines(["nonsense"])
    let result = try session.run(
      "shell",
      path,
      "--command",
      ".mode csv",
      "-c",
      "Town where key == 1 columns name"
    )
    #expect(result.error == nil)
    #expect(result.output == "name\nLisbon\n")
    let failed = try session.run("shell", path, "-c", "count", "-c", "-x")
    #expect(failed.error?.what == "1 command failed")
    #expect(failed.notices.hasPrefix("error: command 2: "))
    let formatted = try session.run(
      "shell",
      path,
      "--format",
      "csv",
      "-c",
      "Town limit 1 columns key"
    )
    #expect(formatted.output == "key\n1\n")
  }

  @Test func `explains, and says how long an answer took, when it is told to`() throws {
    let result = try piped("explain Town where key > 1", "explain count Town where key > 1")
    #expect(
      result.notices.split(separator: "scan of Town", omittingEmptySubsequences: false).count == 3
    )
    let settings = try piped(".explain on", ".timer on", "count Town", ".explain off", "count Town")
    #expect(
      settings.notices.split(separator: "count of Town", omittingEmptySubsequences: false).count
        == 2
    )
    #expect(settings.notices.contains("time  "))
  }

  @Test func `writes results to files`() throws {
    let result = try piped(
      ".mode csv",
      ".output all.csv",
      "Town where key == 1 columns key, name",
      "count Town",
      ".once one.csv",
      "Town where key == 2 columns name",
      "Town where key == 4 columns key",
      ".output",
      "count Town"
    )
    #expect(result.error == nil, "\(result.transcript)")
    #expect(result.output == "entity,rows\nTown,3\n")
    let disk = store.disk
    #expect(
      try text(of: "all.csv", on: disk) == "key,name\n1,Lisbon\nentity,rows\nTown,3\nkey\n4\n"
    )
    #expect(try text(of: "one.csv", on: disk) == "name\nInvicta\n")
  }

  @Test func `does what a file says, with the errors of its lines`() throws {
    try write("-- questions\ncount Town\n\nTown where x\n.read deeper.txt\n", to: "some.txt")
    try write(".read deeper.txt\n", to: "deeper.txt")
    let result = try piped(".read some.txt", "count Note")
    #expect(result.output.contains("Town"))
    #expect(result.output.contains("Note"))
    #expect(result.notices.contains("error: some.txt, line 4: where cannot be understood"))
    #expect(result.notices.contains("files are read from files at most 8 deep"))
    #expect(result.status == .usage)
  }

  @Test func `ends where it is told to`() throws {
    for word in [".quit", ".exit", ".q", "quit", "exit;"] {
      let result = try piped(word, "nonsense")
      #expect(result.error == nil)
      #expect(result.output.isEmpty && result.notices.isEmpty)
    }
  }

  @Test func `explains itself`() throws {
    try expectSnapshot(try piped(".help", width: 100).transcript, "shell-help")
    try expectSnapshot(try piped(".help questions").transcript, "shell-help-questions")
    try expectSnapshot(try piped(".show").transcript, "shell-show")
    for command in DotCommand.allCases {
      let result = try piped(".help \(command.rawValue)")
      #expect(result.output.hasPrefix(command.usage + "\n"))
    }
  }

  @Test func `looks into another store, and stays where it is if there is none`() throws {
    try store.copy(to: "copy.store")
    try store.write { try store.addTowns(2, to: $0) }
    let result = try piped(
      "count Town",
      ".open nowhere",
      "count Town",
      ".open copy.store",
      "count Town"
    )
    #expect(
      result.output.split(separator: "\n").filter { $0.hasPrefix("Town") } == [
        "Town       5", "Town       5", "Town       3",
      ]
    )
  }
}

// MARK: At a terminal

extension `The shell` {
  @Test func `greets, asks, and goes on with a line that is open`() throws {
    let lines = TypedLines([
      .line("count Town where name in ("), .line("\"Lisbon\")"), .line("Town where (key"),
      .abandoned, .line("nonsense"),
    ])
    let result = try typed(lines)
    #expect(result.error == nil)
    #expect(
      lines.prompts == [
        "logstore> ", "     ...> ", "logstore> ", "     ...> ", "logstore> ", "logstore> ",
      ]
    )
    #expect(result.output.hasPrefix("towns.store: 3 entities, 6 rows, last commit 9\n"))
    #expect(result.notices.hasPrefix("error: the store has no such entity"))
    #expect(
      lines.history.lines == ["count Town where name in ( \"Lisbon\")", "nonsense"]
    )
  }

  @Test func `shows a screenful, and says that there is more`() throws {
    try store.write { try store.addTowns(20, to: $0) }
    let lines = TypedLines(
      "Town columns key",
      ".limit 3",
      "Town columns key",
      "Town columns key limit 4",
      ".limit off",
      "Town columns key",
      ".limit"
    )
    let result = try typed(lines, height: 12)
    let counts = result.output.split(separator: "\n").filter { $0.contains("row") }.dropFirst()
    let more = "and more: `.limit off` or a limit in the question shows them"
    #expect(counts == ["8 rows, \(more)", "3 rows, \(more)", "4 rows", "23 rows"])
    #expect(result.output.hasSuffix("limit is off\n"))
  }

  @Test func `shows no more than there is as all there is`() throws {
    let result = try typed(TypedLines(".limit 3", "Town columns key"))
    #expect(result.output.hasSuffix("3 rows\n"))
  }

  @Test func `ends an answer at Ctrl-C, and goes on`() throws {
    try store.write { try store.addTowns(600, to: $0) }
    let lines = TypedLines(
      ".limit off",
      "Town columns key",
      "count Town",
      ".commits 1000",
      "count Note"
    )
    lines.interruptedLines = [2, 4]
    let result = try typed(lines)
    #expect(result.notices == "interrupted\ninterrupted\n")
    #expect(result.output.contains("255 rows"))
    #expect(result.output.hasSuffix("entity  rows\nNote       1\n"))
    #expect(result.output.contains("Town     603"))
  }

  @Test func `sees what was committed since the last question, and what a compaction made of it`()
    throws
  {
    let lines = TypedLines(
      "count Town",
      "count Town",
      "count Town",
      "Town where key == 4 columns name"
    )
    let store = store
    lines.beforeLine = { number, _ in
      do {
        if number == 2 { try store.write { try store.addTowns(2, to: $0) } }
        if number == 3 {
          try store.write { engine in
            try store.addTowns(900, nameByteCount: 60, to: engine)
            for key in 5..<900 as Range<UInt64> {
              var batch = engine.makeBatch()
              batch.delete(TownStore.town(key))
              try engine.commit(&batch)
            }
            try engine.compact()
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    let result = try typed(lines)
    #expect(result.error == nil && result.notices.isEmpty, "\(result.transcript)")
    let counts = result.output.split(separator: "\n").filter { $0.hasPrefix("Town") }
    #expect(counts == ["Town       3", "Town       5", "Town      10"])
    #expect(result.output.contains("Braga"))
  }

  @Test func `lists the lines that were entered`() throws {
    let result = try typed(TypedLines("count Note", ".history", ".history 1"))
    #expect(result.output.hasSuffix("count Note\n.history\n.history 1\n"))
  }
}

// MARK: What may go wrong

extension `The shell` {
  @Test func `opens nothing where no store is`() throws {
    let session = Session(disk: store.disk)
    let result = try session.run("shell", "nowhere", "-c", "count")
    #expect(result.status == .usage)
    #expect(result.error?.what == "there is no store")
  }

  private func text(of path: String, on disk: any FileSystem) throws -> String {
    let console = Console(
      fileSystem: disk,
      screen: .init(),
      output: OutputBuffer { _ in },
      writeNotice: { _ in },
      pause: { _ in .stop }
    )
    return String(decoding: try UserFile(path: path, in: console).contents(), as: UTF8.self)
  }

  private func write(_ text: String, to path: String) throws {
    let file = try store.disk.open(path, .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
  }
}
