import ArgumentParser
import Terminal
import Testing

@testable import logstore_inspect

private func dump(_ arguments: String..., of path: String) throws -> String {
  let output = CapturedOutput()
  var buffer = output.makeBuffer()
  try Dump.parse([path] + arguments).write(to: &buffer)
  return output.text
}

@Suite struct `A dump` {
  private let store: SmallStore

  init() throws { store = try SmallStore() }

  @Test func `shows each row as a block of lines`() throws {
    #expect(
      try dump(of: store.path) == """
        Note/1
          towns    [Town/2, Town/1]
          picture  20 bytes abababababababababababababababab…

        Town/1
          name     "Lisbon"
          founded  1969-04-24T22:13:20Z

        Town/2
          name     "Porto"
          founded  –

        """
    )
  }

  @Test func `is an array of JSON objects`() throws {
    #expect(
      try dump("--format", "json", "--entity", "Town", of: store.path) == """
        [
         {"entity":"Town","key":1,"values":{"name":"Lisbon","founded":"1969-04-24T22:13:20Z"}}
        ,{"entity":"Town","key":2,"values":{"name":"Porto","founded":null}}
        ]

        """
    )
  }

  @Test func `is one JSON object a line`() throws {
    #expect(
      try dump("--format", "ndjson", "--limit", "1", of: store.path) == """
        {"entity":"Note","key":1,"values":{"towns":["Town/2","Town/1"],\
        "picture":{"bytes":20,"hex":"abababababababababababababababab"}}}
        {"entity":"Town","key":1,"values":{"name":"Lisbon","founded":"1969-04-24T22:13:20Z"}}

        """
    )
  }

  @Test func `shows what the store keeps for itself when told to`() throws {
    let text = try dump("--all", "--format", "ndjson", of: store.path)
    #expect(text.contains(#"{"entity":"_Keys","key":1,"values":{"next":9}}"#))
    #expect(text.contains(#""_rank":1"#))
  }

  @Test func `of no rows is still an array`() throws {
    #expect(try dump("--format", "json", "--limit", "0", of: store.path) == "[\n]\n")
  }

  @Test func `names the entities there are when asked for another`() throws {
    let error = #expect(throws: ToolError.self) {
      try dump("--entity", "Village", of: store.path)
    }
    #expect(error?.expected == "Note, Town")
    #expect(error?.found == "Village")
  }
}

@Suite struct `The inspector's exit code` {
  @Test func `is 0 for a store that can be read`() throws {
    let store = try SmallStore()
    // The store's folder goes when the store does.
    withExtendedLifetime(store) {
      #expect(Inspect.run(["dump", store.path, "--limit", "0"]) == .success)
    }
  }

  @Test(arguments: [
    ["dump"], ["dump", "/nowhere/at.all"], ["dump", "--format", "xml", "x"], ["summary", "/etc"],
    ["dump", "--limit", "-1", "x"], ["summary", "/etc/hostname"], ["unheard"],
  ])
  func `is 1 for arguments that make no sense, and paths without a store`(arguments: [String]) {
    #expect(Inspect.run(arguments) == .usage)
  }
}
