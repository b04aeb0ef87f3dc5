import Testing

@testable import Terminal

@Suite struct `A line that is edited` {
  @Test(arguments: [
    ("Trip", "Trip"), ("Tip<left><left>r", "Trip"), ("rip<home>T", "Trip"),
    ("rip^AT<end>s", "Trips"), ("Trips<backspace>", "Trip"), ("TTrip<home><delete>", "Trip"),
    ("TTrip^A^D", "Trip"), ("Trip where^W", "Trip "), ("Trip where<wordLeft>x ", "Trip x where"),
    ("a bc<home><wordRight>d", "ad bc"), ("Trip limit 3^A^K", ""), ("Trip limit 3^U", ""),
    ("limit 3^ATrip <right>^K^Y", "Trip limit 3"), ("Tirp^B^B^T", "Trip"), ("Trpi^T", "Trip"),
    ("a b<home><killWord>", " b"), ("one two^W^A^Y", "twoone "), ("^F^B^P^N<up><down>", ""),
    ("Å☕️日本<left><left>x", "Å☕️x日本"), ("e\u{301}<backspace>", ""),
    ("👩‍👩‍👧x<left><backspace>", "x"), ("a\u{1B}[99;99;99Zb", "ab"), ("a\u{1B}Ob", "a"),
  ])
  func `holds what its keys make of it, and shows it`(keys: String, text: String) {
    var line = TypedLine()
    line.type(keys)
    #expect(line.text == text)
    #expect(line.isShown(), "\(line.screen.rows)")
  }

  @Test func `is accepted with the enter key, wherever the cursor is`() {
    var line = TypedLine()
    line.type("count Trip<left><left><enter>")
    #expect(line.event == .accepted("count Trip"))
    #expect(line.screen.column == 0)
    #expect(line.screen.rows.first?.joined() == "> count Trip")
  }

  @Test func `is given up with Ctrl-C, and ends the input with Ctrl-D only if it is empty`() {
    var line = TypedLine()
    line.type("Tri^C")
    #expect(line.event == .abandoned)
    #expect(line.screen.rows.first?.joined() == "> Tri^C")
    var other = TypedLine()
    other.type("x^D<backspace>^D")
    #expect(other.event == .ended)
  }

  @Test(arguments: [2, 3, 5, 12, 13, 14, 80])
  func `breaks at the edge of a terminal of any width`(width: Int) {
    var line = TypedLine(width: width)
    for character in "Trip 日本語 where x" {
      line.type(String(character))
      #expect(line.isShown(), "\(line.text) in \(width): \(line.screen.rows)")
    }
    for _ in 0..<12 {
      line.type("<left>")
      #expect(line.isShown(), "\(line.editor.buffer.head) in \(width): \(line.screen.rows)")
    }
    line.type("^U")
    #expect(line.isShown())
  }

  @Test func `is drawn anew for a window that is resized`() {
    var line = TypedLine(width: 12)
    line.type("Trip where delay > 60<left><left>")
    var editor = line.editor
    editor.resize(to: 30)
    var screen = ScreenDouble(width: 30)
    // A terminal joins the rows that it broke itself.
    screen.write("> Trip where delay > 60")
    screen.write(editor.takeOutput())
    #expect(screen.text == "> Trip where delay > 60")
    #expect(screen.textBeforeCursor == "> Trip where delay > ")
    editor.resize(to: 30)
    #expect(editor.takeOutput().isEmpty)
  }

  @Test func `writes one character where that is enough`() {
    var editor = LineEditor(prompt: "> ", width: 40)
    _ = editor.takeOutput()
    _ = editor.handle(.text("a"))
    #expect(editor.takeOutput() == "a")
    _ = editor.handle(.left)
    _ = editor.takeOutput()
    _ = editor.handle(.left)
    #expect(editor.takeOutput().isEmpty)
  }

  @Test func `clears the screen around itself`() {
    var line = TypedLine()
    line.type("abc<left>^L")
    #expect(line.screen.rows.first?.joined() == "> abc")
    #expect(line.screen.textBeforeCursor == "> ab")
  }

  @Test func `refuses what does not fit`() {
    var buffer = LineBuffer(String(repeating: "x", count: LineBuffer.limit))
    let isInserted = buffer.insert("y")
    #expect(!isInserted)
    #expect(buffer.characters.count == LineBuffer.limit)
  }
}

@Suite struct `The history of a line editor` {
  private let lines = ["count Trip", "Trip limit 3", "Airline limit 1"]

  @Test(arguments: [
    ("<up>", "Airline limit 1"), ("<up><up>", "Trip limit 3"), ("<up><up><up><up>", "count Trip"),
    ("new<up><down>", "new"), ("^P^P^N", "Airline limit 1"), ("<down>", ""),
    ("<up><backspace>2<up><down>", "Airline limit 1"),
  ])
  func `is gone through with the arrows, and leads back to the new line`(
    keys: String,
    text: String
  ) {
    var line = TypedLine(history: lines)
    line.type(keys)
    #expect(line.text == text)
    #expect(line.isShown())
  }

  @Test(arguments: [
    ("^Rlimit", "Airline limit 1"), ("^Rlimit^R", "Trip limit 3"), ("^Rlimit^R^R", "Trip limit 3"),
    ("^RTrip", "Trip limit 3"), ("^Rlimx<backspace>", "Airline limit 1"), ("new^Rlimit^G", "new"),
    ("new^Rlimit^C", "new"), ("new^Rzzz", "new"),
  ])
  func `is searched backwards`(keys: String, text: String) {
    var line = TypedLine(history: lines)
    line.type(keys)
    #expect(line.text == text)
    #expect(line.event == nil)
  }

  @Test func `hands over what a search found, to be edited or accepted`() {
    var line = TypedLine(history: lines)
    line.type("^Rcount<left>")
    #expect(line.text == "count Trip")
    #expect(line.isShown())
    line.type("<esc><enter>")
    #expect(line.event == .accepted("count Trip"))
    var other = TypedLine(history: lines)
    other.type("^Rcount")
    #expect(other.screen.text == "(search \"count\") count Trip")
    other.type("q")
    #expect(other.screen.text == "(not found \"countq\") count Trip")
    other.type("<enter>")
    #expect(other.event == .accepted("count Trip"))
  }

  @Test func `has no line twice, no blank one, and no more than its limit`() {
    var history = LineHistory(limit: 3)
    for line in ["a", "b", " ", "a", "c\u{1B}[2J", "d", "e"] { history.add(line) }
    #expect(history.lines == ["a", "d", "e"])
    #expect(LineHistory(text: history.text, limit: 2).lines == ["d", "e"])
    #expect(LineHistory(text: "x\r\n\n\u{7}\nx\n").lines == ["x"])
  }
}

@Suite struct `Completion in a line editor` {
  private func line(_ candidates: [Completion.Candidate]) -> TypedLine {
    TypedLine { head in
      let word = head.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
      return Completion(
        from: head.count - word.count,
        candidates.filter { $0.text.hasPrefix(word) }
      )
    }
  }

  @Test(arguments: [
    ("co<tab>", "columns "), ("x whe<tab>co<tab>", "x where columns "), ("na<tab>", "name"),
    ("zz<tab>", "zz"), ("col x<home><right><right><right><tab>", "columns x"),
    ("d\u{E9}<tab>", "d\u{E9}lai"), ("\u{65E5}<tab>", "\u{65E5}\u{672C} "),
  ])
  func `puts in what is certain`(keys: String, text: String) {
    var line = line([
      .init("columns"), .init("where"), .init("d\u{E9}lai", suffix: ""), .init("name"),
      .init("names"), .init("\u{65E5}\u{672C}"),
    ])
    line.type(keys)
    #expect(line.text == text)
    #expect(line.isShown())
  }

  @Test func `lists what is not, below the line, which then goes on`() {
    var line = line([.init("name"), .init("names"), .init("namesake")])
    line.type("na<tab><tab>")
    #expect(
      line.screen.rows.map { $0.joined() } == ["> name", "name      names     namesake", "> name"]
    )
    line.type("s<tab>")
    line.type("a<tab>!")
    #expect(line.text == "namesake !")
    #expect(line.isShown())
  }

  @Test func `rings the bell where there is nothing`() {
    var line = line([.init("a\u{1B}[2J")])
    line.type("a<tab>")
    #expect(line.text == "a")
    #expect(line.screen.bellCount == 1)
  }
}

@Suite struct `Bytes of a terminal` {
  @Test(
    arguments: [
      ([0x1B, 0x5B, 0x41], [.up]), ([0x1B, 0x4F, 0x48], [.home]), ([0x1B, 0x62], [.wordLeft]),
      ([0x1B, 0x5B, 0x33, 0x7E], [.delete]), ([0x1B, 0x5B, 0x31, 0x3B, 0x35, 0x43], [.wordRight]),
      ([0xC3, 0xA9], [.text("é")]), ([0xC3, 0x61], [.text("\u{FFFD}"), .text("a")]),
      ([0xFF], [.text("\u{FFFD}")]), ([0xC2, 0x9B], []), ([0xED, 0xA0, 0x80], [.text("\u{FFFD}")]),
      ([0x1B, 0x5B, 0x31, 0x03], [.interrupt]), ([0x1B, 0x1B, 0x5B, 0x43], [.escape, .right]),
      ([0x1B, 0x0D], [.escape, .enter]), ([0x00], []), ([0x1B, 0x5B, 0x49], []),
    ] as [([UInt8], [Key])]
  )
  func `become keys, and never part of a line if they control it`(bytes: [UInt8], keys: [Key]) {
    var decoder = KeyDecoder()
    let read = bytes.flatMap { decoder.read($0) }
    #expect(read == keys)
  }
}
