import ArgumentParser
import Testing

@testable import logstore_inspect

@Suite struct `A summary` {
  private func summary(_ arguments: String...) throws -> [Substring] {
    let store = try SmallStore()
    let output = CapturedOutput()
    var buffer = output.makeBuffer()
    try Summary.parse([store.path] + arguments).write(to: &buffer)
    return output.text.replacing(store.path, with: "towns.store")
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func `shows entities, rows and columns`() throws {
    let lines = try summary()
    #expect(lines[0] == "towns.store")
    #expect(lines[1] == "  identifier   TOWNS")
    #expect(
      lines.suffix(4) == [
        "entity  rows  columns", "Note       1        2", "Town       2        2", "",
      ]
    )
  }

  @Test func `lists columns with their types when told to`() throws {
    let lines = try summary("--columns")
    #expect(
      lines.suffix(8) == [
        "Note", "  towns    references", "  picture  bytes, optional", "", "Town",
        "  name     text",
        "  founded  date, optional", "",
      ]
    )
  }

  @Test func `shows what the store keeps for itself when told to`() throws {
    let lines = try summary("--all", "--columns")
    #expect(lines.contains("_Keys      1        1"))
    #expect(lines.contains("  _rank    integer, optional"))
  }
}
