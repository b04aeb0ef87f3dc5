import Testing

@testable import Terminal

@Suite struct `A text table` {
  @Test func `aligns figures to the right and leaves no trailing spaces`() {
    var table = TextTable([.init("entity"), .init("rows", .right), .init("note")])
    table.append(["Trip", "27,004", "x"])
    table.append(["BucketListItem", "5"])
    #expect(
      table.lines == [
        "entity            rows  note",
        "Trip            27,004  x",
        "BucketListItem       5",
      ]
    )
  }

  @Test func `without titles has no header`() {
    var table = TextTable([.init(""), .init("", .right)])
    table.append(["a", "1"])
    #expect(table.lines == ["a  1"])
  }
}

@Suite struct `Figures` {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (27_004, "27,004"), (-1_234_567, "-1,234,567"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func `are grouped by thousands`(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_500_000, "1.4 MiB"),
    (1 << 40, "1024.0 GiB"),
  ])
  func `of bytes have a unit`(number: Int, text: String) {
    #expect(number.byteCount == text)
  }

  @Test(arguments: [(0.00042, "420 µs"), (0.0123, "12.3 ms"), (1.5, "1.50 s"), (90.0, "90.00 s")])
  func `of time have a unit`(seconds: Double, text: String) {
    #expect(seconds.duration == text)
  }
}

@Suite struct `A progress bar` {
  @Test(arguments: [
    (0, 10, "import     [------------------------] 0 %  0 of 10"),
    (5, 10, "import     [############------------] 50 %  5 of 10"),
    (27_004, 27_004, "import     [########################] 100 %  27,004 of 27,004"),
  ])
  func `says how far the work has come`(done: Int, total: Int, line: String) {
    #expect(ProgressBar.line("import", done: done, of: total) == line)
  }
}

@Suite struct `A tool's error` {
  @Test func `says what, where, expected, found and what to do, each on its line`() {
    let error = ToolError(
      "it cannot be read",
      place: "/a/b",
      expected: "a file",
      found: "nothing\nat all",
      advice: "look elsewhere"
    )
    #expect(
      error.description == """
        it cannot be read
          where:    /a/b
          expected: a file
          found:    nothing
                    at all
          try:      look elsewhere
        """
    )
  }

  @Test func `leaves out what it does not know`() {
    #expect(ToolError("no", advice: "yes").description == "no\n  try:      yes")
  }
}

@Suite struct `A text` {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("日本", 4), ("\u{1B}[31mred\u{1B}[0m", 3), ("👩‍🚀", 2),
  ])
  func `knows how many columns it takes`(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
    ("\u{1B}[31mabcdef\u{1B}[0m", 3, "\u{1B}[31mab…\u{1B}[0m"), ("abc", 1, "…"),
  ])
  func `is cut off with an ellipsis`(text: String, width: Int, clipped: String) {
    #expect(text.clipped(to: width) == clipped)
    #expect(text.clipped(to: width).displayWidth <= width)
  }

  @Test func `cannot move the cursor`() {
    #expect("a\u{1B}[2Jb\r\n\u{9B}c".printable == "a\\u{1b}[2Jb\\u{d}\\u{a}\\u{9b}c")
    #expect("Ærø".printable == "Ærø")
  }
}

@Suite struct `A text table in a narrow terminal` {
  private func table() -> TextTable {
    var table = TextTable([
      .init("name"), .init("size", .right), .init("age", .right, .optional),
    ])
    table.append(["a name of thirty characters ok", "1.0 MiB", "3 min"])
    table.append(["b", "17 B", "14 d"])
    return table
  }

  @Test func `cuts text off before anything else`() {
    #expect(
      table().lines(fitting: 30) == [
        "name               size    age",
        "a name of thi…  1.0 MiB  3 min",
        "b                  17 B   14 d",
      ]
    )
  }

  @Test func `then leaves out columns that matter less, and never a figure`() {
    let lines = table().lines(fitting: 22)
    #expect(
      lines == ["name              size", "a name of th…  1.0 MiB", "b                 17 B"]
    )
  }

  @Test func `stays as it is where there is room`() {
    #expect(table().lines(fitting: 200) == table().lines)
  }
}
