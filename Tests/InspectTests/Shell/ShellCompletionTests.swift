import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `Completion in the shell` {
  private let completion: ShellCompletion

  init() throws {
    let towns = try TownStore()
    _ = try towns.write { engine in
      try engine.apply([
        .addTable(name: "sort"),
        .addColumn(table: 5, name: "limit", type: .text, isNullable: false),
        .addColumn(table: 5, name: "a b", type: .text, isNullable: false),
        .addColumn(table: 5, name: "e\u{1B}[2J", type: .text, isNullable: false),
        .setLayout(table: 5, columns: [1, 2, 3]),
      ])
    }
    completion = ShellCompletion(try InspectedStore(towns.path, on: towns.disk))
  }

  private func lines(_ head: String, behind before: String = "") -> [String] {
    let completion = completion.completion(of: head, behind: before)
    let kept = String(head.prefix(completion.start))
    return completion.candidates.map { kept + $0.text }
  }

  @Test(
    arguments: [
      ("", ["Note", "Photo", "Town", "`sort`", "count", "explain"]), ("to", ["Town"]),
      ("count t", ["count Town"]), ("explain c", ["explain count"]),
      ("explain count P", ["explain count Photo"]),
      ("Town w", ["Town where"]), ("Town where na", ["Town where name"]),
      ("town WHERE (name == 'x' && fo", ["town WHERE (name == 'x' && founded"]),
      ("Town where name co", ["Town where name contains", "Town where name columns"]),
      ("Town columns name, ma", ["Town columns name, mayor", "Town columns name, max"]),
      ("Town columns avg(k", ["Town columns avg(key"]),
      ("Town group by na", ["Town group by name"]),
      ("Town sort -f", ["Town sort -founded"]), ("Town limit 3 s", ["Town limit 3 sort"]),
      ("Town limit 3 sort name l", []), ("count Town s", []), ("Unknown where x", []),
      ("`sort` columns `li", ["`sort` columns `limit`"]), ("`so", ["`sort`"]),
      ("`sort` columns a", ["`sort` columns `a b`", "`sort` columns avg", "`sort` columns at"]),
      ("`sort` columns e", []), ("Town where name == \"Lis", ["Town where name == \"Lisbon"]),
      ("Town where name in ['Lisbon', 'inv", ["Town where name in ['Lisbon', 'Invicta"]),
      ("Town where key == \"", []), ("Town where name == \"x\u{1}", []), ("Town where #", []),
    ] as [(String, [String])]
  )
  func `offers what fits the place`(head: String, expected: [String]) {
    #expect(lines(head) == expected)
  }

  @Test(
    arguments: [
      (".mo", [".mode"]), (".e", [".exit", ".explain", ".entities"]), (".mode n", [".mode ndjson"]),
      (".schema t", [".schema Town"]), (".get P", [".get Photo"]),
      (".timer o", [".timer on", ".timer off"]),
      (".limit s", [".limit screen"]), (".help q", [".help quit", ".help questions"]),
      (".mode csv c", []),
      (".nothing x", []), (".read /etc/pass", [".read /etc/passwd", ".read /etc/passwd-"]),
    ] as [(String, [String])]
  )
  func `knows the commands and what they take`(head: String, expected: [String]) {
    #expect(lines(head).filter { !$0.hasSuffix("-") } == expected.filter { !$0.hasSuffix("-") })
  }

  @Test func `goes on in the line behind one that is open`() {
    #expect(lines("mayor == \"x\" or na", behind: "Town where (") == ["mayor == \"x\" or name"])
    #expect(lines("Lis", behind: "Town where name == \"") == [])
    #expect(lines(".mo", behind: "Town where (") == [])
  }
}
