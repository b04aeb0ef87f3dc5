import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A question in one line` {
  private func parts(_ line: String) throws -> [String] {
    let question = try Question(line)
    let text = question.text
    var parts = [question.kind == .count ? "count" : "rows", question.entity ?? "all"]
    func add(_ name: String, _ value: String?) {
      if let value { parts.append("\(name):\(value.filter { $0 != " " })") }
    }
    add("where", text.condition)
    add("columns", text.columns)
    add("groups", text.groups)
    add("sort", text.sort)
    add("limit", text.limit.map { "\($0)" })
    add("offset", text.offset == 0 ? nil : "\(text.offset)")
    add("at", question.commit.map { "\($0)" })
    if question.isExplained { parts.append("explained") }
    return parts
  }

  @Test(arguments: [
    ("Trip", ["rows", "Trip"]), ("  Trip ;; ", ["rows", "Trip"]), ("count", ["count", "all"]),
    ("COUNT Trip;", ["count", "Trip"]), ("explain Trip", ["rows", "Trip", "explained"]),
    ("Explain Count Trip", ["count", "Trip", "explained"]),
    ("count where x > 1", ["rows", "count", "where:x>1"]), ("`count`", ["rows", "count"]),
    ("count count", ["count", "count"]), ("explain", ["rows", "explain"]),
    ("explain where x", ["rows", "explain", "where:x"]),
    ("`my trip` limit 3", ["rows", "my trip", "limit:3"]),
    ("Trip where a == \"limit 3\" limit 4", ["rows", "Trip", "where:a==\"limit3\"", "limit:4"]),
    ("Trip where (a in [1, 2]) sort by -a, b", ["rows", "Trip", "where:(ain[1,2])", "sort:-a,b"]),
    ("Trip order by a limit 1_000 offset 2", ["rows", "Trip", "sort:a", "limit:1000", "offset:2"]),
    ("Trip group a columns a, count", ["rows", "Trip", "columns:a,count", "groups:a"]),
    ("Trip group by `at`, `sort`", ["rows", "Trip", "groups:`at`,`sort`"]),
    ("Trip where at > 3 at 17", ["rows", "Trip", "where:at>3", "at:17"]),
    ("count at 3", ["count", "all", "at:3"]), ("count Trip at 3", ["count", "Trip", "at:3"]),
    ("Trip\n where x", ["rows", "Trip", "where:x"]),
    ("Trip where count(limit) > 1", ["rows", "Trip", "where:count(limit)>1"]),
  ])
  func `is taken apart at the words that begin its parts`(line: String, expected: [String]) throws {
    #expect(try parts(line) == expected)
  }

  @Test(arguments: [
    ("select * from Trip", "Trip"), ("SELECT name FROM Trip", "Trip columns name"),
    ("select count(*) from Trip where delay > 60", "count Trip where delay > 60"),
    (
      "select carrier, count(*) from Trip group by carrier",
      "Trip columns carrier, count group by carrier"
    ),
    ("select 1", "Entity where … columns … sort … limit …"),
  ])
  func `that is SQL is answered with one that is not`(line: String, advice: String) {
    let error = #expect(throws: ToolError.self) { try Question(line) }
    #expect(error?.advice == advice)
  }

  @Test(arguments: [
    ("", false), ("Trip where (a", true), ("Trip where (a)", false), ("a == \"x", true),
    ("a == \"x\\\"", true), ("a == \"it's\"", false), ("`a\\`", false), ("a in [1", true),
    ("a in [\"]\"", true), (")(", true), ("a == '(", true),
  ])
  func `goes on with the next line while something is open`(text: String, isOpen: Bool) {
    #expect(OpenText(text).needsMore == isOpen)
  }

  @Test func `in several lines is remembered as one that means the same`() {
    #expect(OpenText(lines: ["a == (", "1)"]).text == "a == ( 1)")
    #expect(OpenText(lines: ["a == \"x", "y\""]).text == "a == \"x\\ny\"")
    #expect(OpenText(lines: []).text.isEmpty)
  }

  @Test(arguments: [
    (".mode csv", [".mode", "csv"]), (".output \"my file.csv\"", [".output", "my file.csv"]),
    (".read 'a'b", [".read", "ab"]), (".open \"\"", [".open", ""]), (" .x ", [".x"]),
    (".once \"open end", [".once", "open end"]),
  ])
  func `beginning with a point has words`(line: String, words: [String]) {
    #expect(ShellWords.split(line) == words)
  }

  @Test(arguments: [
    ("mode", DotCommand.mode), ("MODE", .mode), ("m", .mode), ("q", .quit), ("entities", .tables),
    ("ent", .tables), ("hist", .history), ("tab", .tables), ("sc", .schema),
  ])
  func `names a command, also cut short`(name: String, command: DotCommand) throws {
    #expect(try DotCommand(named: name) == command)
  }

  @Test(
    arguments: [
      ("h", ".headers or .help or .history", nil), ("shcema", nil, ".schema?"),
      ("xyzzy", nil, "`.help` lists them"), ("", nil, "`.help` lists them"),
    ] as [(String, String?, String?)]
  )
  func `with an unknown command gets the name of the nearest one`(
    name: String,
    expected: String?,
    advice: String?
  ) {
    let error = #expect(throws: ToolError.self) { try DotCommand(named: name) }
    #expect(error?.expected == expected)
    if let advice { #expect(error?.advice == advice) }
  }
}
