/// A line that is edited at a terminal, without the terminal: keys go in, and what to write to the screen comes out.
///
/// The drawing always ends at its cursor, and covers as many rows as the line needs. It is redrawn from the
/// row that the prompt begins in, and only the new character is written if that is enough.
public struct LineEditor {
  /// The end of an edit, or a request to the terminal.
  public enum Event: Hashable, Sendable {
    case accepted(String)
    /// The line was given up.
    case abandoned
    /// There is no further input.
    case ended
    /// The process is to be stopped; the line continues with ``redraw()``.
    case suspended
  }

  /// A search through the history while it lasts.
  struct Search {
    var text = ""
    /// The line that was found.
    var match: Int?
    /// Whether there is none for the text.
    var hasFailed = false
    /// The line before the search.
    let original: LineBuffer
  }

  public internal(set) var buffer = LineBuffer()
  public internal(set) var history: LineHistory
  /// Number of columns of the terminal.
  public private(set) var width: Int
  let prompt: String
  let complete: Completion.Source
  /// The line of the history that is shown; `nil` for the one that is new.
  var historyIndex: Int?
  /// The new line, while one of the history is shown.
  var draft = LineBuffer()
  var killed = ""
  var search: Search?
  /// The output for the terminal.
  var pending = ""
  /// The last drawing: the prompt and the line, and the place of the cursor.
  private var drawn: (text: [Character], cursor: Int)?

  /// Begins a line.
  ///
  /// - Parameters:
  ///   - prompt: Printable text before the line.
  ///   - width: The number of columns of the terminal.
  ///   - history: Earlier lines.
  ///   - complete: Returns the possible words at the cursor when the tab key is pressed.
  public init(
    prompt: String,
    width: Int,
    history: LineHistory = LineHistory(),
    complete: @escaping Completion.Source = { _ in .none }
  ) {
    self.prompt = prompt
    self.width = width
    self.history = history
    self.complete = complete
    draw()
  }

  /// Takes the output for the terminal.
  public mutating func takeOutput() -> String {
    defer { pending = "" }
    return pending
  }

  /// Performs the action of a key.
  ///
  /// - Returns: The end of the line; `nil` while it is edited.
  public mutating func handle(_ key: Key) -> Event? {
    if search != nil {
      guard !handleSearch(key) else {
        draw()
        return nil
      }
    }
    let event = edit(key)
    switch event {
    case .accepted, .ended: leave()
    case .abandoned:
      buffer.move(to: buffer.characters.count)
      draw()
      pending += "^C\r\n"
      drawn = nil
    case .suspended:
      let cursor = buffer.cursor
      leave()
      buffer.move(to: cursor)
    case nil: draw()
    }
    return event
  }

  /// Draws the line on a terminal that shows something else by now.
  public mutating func redraw() {
    drawn = nil
    pending += "\r\u{1B}[J"
    draw()
  }

  /// Draws the line for another width of the terminal.
  public mutating func resize(to width: Int) {
    guard width != self.width else { return }
    // Terminals break the rows anew that they broke themselves, and the cursor moves with its character.
    self.width = width
    draw(.wholly)
  }

  private mutating func leave() {
    buffer.move(to: buffer.characters.count)
    draw()
    pending += "\r\n"
    drawn = nil
  }
}

// MARK: Keys

extension LineEditor {
  private mutating func edit(_ key: Key) -> Event? {
    let (cursor, count) = (buffer.cursor, buffer.characters.count)
    switch key {
    case .text(let scalar):
      if !buffer.insert(String(scalar)) { pending += "\u{7}" }
    case .enter: return .accepted(buffer.text)
    case .interrupt: return .abandoned
    case .suspend: return .suspended
    case .endOfInput where buffer.isEmpty: return .ended
    case .endOfInput, .delete: if cursor < count { buffer.remove(cursor..<(cursor + 1)) }
    case .backspace: if cursor > 0 { buffer.remove((cursor - 1)..<cursor) }
    case .left: buffer.move(to: cursor - 1)
    case .right: buffer.move(to: cursor + 1)
    case .wordLeft: buffer.move(to: buffer.wordStart)
    case .wordRight: buffer.move(to: buffer.wordEnd)
    case .home: buffer.move(to: 0)
    case .end: buffer.move(to: count)
    case .killToEnd: kill(cursor..<count)
    case .killToStart: kill(0..<cursor)
    case .killWordLeft: kill(buffer.wordStart..<cursor)
    case .killWordRight: kill(cursor..<buffer.wordEnd)
    case .yank: buffer.insert(killed)
    case .transpose: buffer.transpose()
    case .up: showHistory(at: (historyIndex ?? history.lines.count) - 1)
    case .down: if let historyIndex { showHistory(at: historyIndex + 1) }
    case .search: search = Search(original: buffer)
    case .tab: completeWord()
    case .clearScreen:
      pending += "\u{1B}[H\u{1B}[2J"
      drawn = nil
    case .escape, .abort: break
    }
    return nil
  }

  private mutating func kill(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    killed = buffer.remove(range)
  }

  private mutating func showHistory(at index: Int) {
    guard 0...history.lines.count ~= index else { return }
    if historyIndex == nil { draft = buffer }
    historyIndex = index == history.lines.count ? nil : index
    buffer = historyIndex.map { LineBuffer(history.lines[$0]) } ?? draft
  }
}

// MARK: Drawing

extension LineEditor {
  private var shownPrompt: String {
    guard let search else { return prompt }
    return "(\(search.hasFailed ? "not found" : "search") \"\(search.text)\") "
  }

  private enum Extent { case changes, wholly }

  mutating func draw() { draw(.changes) }

  private mutating func draw(_ extent: Extent) {
    let head = Array(shownPrompt)
    let text = head + buffer.characters
    let cursor = head.count + buffer.cursor
    if extent == .changes, let drawn {
      if drawn.text == text, drawn.cursor == cursor { return }
      if appends(to: drawn, text, cursor) {
        pending += String(text[drawn.text.count...])
        self.drawn = (text, cursor)
        return
      }
    }
    if let drawn {
      let row = LineLayout(drawn.text, cursor: drawn.cursor, width: width).cursor.row
      if row > 0 { pending += "\u{1B}[\(row)A" }
      pending += "\r\u{1B}[J"
    }
    let layout = LineLayout(text, cursor: cursor, width: width)
    pending += String(text)
    // A terminal begins the next row only when there is something for it.
    if layout.endsFull { pending += "\r\n" }
    if layout.cursor != layout.end {
      let rows = layout.end.row - layout.cursor.row
      if rows > 0 { pending += "\u{1B}[\(rows)A" }
      pending += "\r"
      if layout.cursor.column > 0 { pending += "\u{1B}[\(layout.cursor.column)C" }
    }
    drawn = (text, cursor)
  }

  /// Whether all new text is after the old one, in the same row.
  private func appends(
    to drawn: (text: [Character], cursor: Int),
    _ text: [Character],
    _ cursor: Int
  ) -> Bool {
    guard text.count > drawn.text.count, drawn.cursor == drawn.text.count, cursor == text.count,
      text.starts(with: drawn.text)
    else { return false }
    let (before, after) = (
      LineLayout(drawn.text, cursor: drawn.cursor, width: width),
      LineLayout(text, cursor: cursor, width: width)
    )
    return before.end.row == after.end.row
  }
}
