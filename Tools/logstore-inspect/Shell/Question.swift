import Terminal

/// A question in one line, as people type it in the shell.
///
///     question = ["explain"] ["count"] entity clause …
///     clause   = "where" condition | "columns" list | "group by" list | "sort" list
///              | "limit" number | "offset" number | "at" commit
///
/// `count` alone counts every entity. ``Condition`` and ``SelectParser`` define conditions and lists. Words
/// may be in any case, `order by` is `sort`, and a semicolon may end the line. An entity or a column with the name of
/// a word of the language is written between backticks.
struct Question {
  enum Kind { case rows, count }

  private(set) var kind = Kind.rows
  /// `nil` for all entities.
  private(set) var entity: String?
  private(set) var text = RowQuery.Text()
  /// The commit whose state is asked about; `nil` for the newest.
  private(set) var commit: UInt64?
  /// Whether the answer has to be explained.
  private(set) var isExplained = false

  /// Reads a question.
  ///
  /// - Throws: ``ToolError`` that shows the place in the line.
  init(_ line: String) throws(ToolError) {
    let line = Self.trimmed(line)
    if let sentence = SelectStatement(line)?.question { throw Self.notSQL(line, sentence) }
    var parser = try QuestionParser(line)
    isExplained = parser.take("explain")
    kind = parser.take("count") ? .count : .rows
    if kind == .rows || !parser.isAtPart { entity = try parser.entity() }
    var starts: [RowQuery.Clause: Int] = [:]
    while let part = try parser.part() {
      if kind == .count, part.word != .where, part.word != .at {
        throw parser.error(at: part.token, expected: "where, at or the end")
      }
      switch part.word {
      case .where: (text.condition, starts[.condition]) = (part.text, part.start)
      case .columns: (text.columns, starts[.columns]) = (part.text, part.start)
      case .group: (text.groups, starts[.groups]) = (part.text, part.start)
      case .sort, .order: (text.sort, starts[.sort]) = (part.text, part.start)
      case .limit: text.limit = try parser.number(part)
      case .offset: text.offset = try parser.number(part)
      case .at: commit = UInt64(try parser.number(part))
      }
    }
    text.source = .line(line, starts)
  }

  private static func trimmed(_ line: String) -> String {
    var line = line[...]
    while let last = line.last, last.isWhitespace || last == ";" { line.removeLast() }
    return String(line.drop(while: \.isWhitespace))
  }

  private static func notSQL(_ line: String, _ question: String) -> ToolError {
    ToolError(
      "that is SQL, which the shell does not speak",
      expected: "an entity, and what is asked of it",
      found: line.printable,
      advice: question.printable
    )
  }
}

/// A word that begins a part of a question.
enum QuestionWord: String, CaseIterable {
  case `where`, columns, group, sort, order, limit, offset, at

  /// The word after it, which people also leave out.
  var companion: String? {
    switch self {
    case .group, .sort, .order: "by"
    default: nil
    }
  }

  /// The spelling of the word and its companion.
  var phrase: String {
    switch self {
    case .group: "group by"
    case .order: "order by"
    default: rawValue
    }
  }
}

/// Takes a question apart at the words that begin its parts.
private struct QuestionParser {
  struct Part {
    let word: QuestionWord
    let token: WhereToken
    let text: String
    /// The place in the line at which the text begins.
    let start: Int
  }

  private let line: String
  private let characters: [Character]
  private let tokens: [WhereToken]
  private var next = 0
  private var seen: Set<QuestionWord> = []

  init(_ line: String) throws(ToolError) {
    self.line = line
    characters = Array(line)
    do throws(WhereError) {
      tokens = try WhereLexer.tokens(of: line)
    } catch {
      throw error.toolError(in: "the question")
    }
  }

  private var token: WhereToken { tokens[next] }
  var isAtEnd: Bool { token.kind == .end }
  /// Whether the cursor is after the entity, if there is one.
  var isAtPart: Bool { isAtEnd || Self.word(at: next, of: tokens) != nil }

  /// Takes a word before the entity, unless it is itself the entity's name.
  mutating func take(_ word: String) -> Bool {
    guard token.isPlainWord(word) else { return false }
    switch tokens[next + 1].kind {
    case .name:
      let follower = Self.word(at: next + 1, of: tokens)
      guard follower == nil || follower == .at && word == "count" else { return false }
    case .end where word == "count": break
    default: return false
    }
    next += 1
    return true
  }

  mutating func entity() throws(ToolError) -> String {
    guard case .name(let name) = token.kind else {
      throw error(
        at: token,
        expected: "an entity, and what is asked of it",
        advice: "`.help questions` shows some"
      )
    }
    next += 1
    return name
  }

  /// The next part; `nil` at the end.
  mutating func part() throws(ToolError) -> Part? {
    if isAtEnd { return nil }
    let start = token
    guard let word = Self.word(at: next, of: tokens) else {
      let words = QuestionWord.allCases.filter { $0 != .order }.map(\.phrase)
      let isName = if case .name = start.kind { true } else { false }
      throw error(
        at: start,
        expected: words.joined(separator: ", ") + " or the end",
        advice: isName ? NearestName.of(start.source, among: words).map { "\($0)?" } : nil
      )
    }
    let kind = word == .order ? .sort : word
    guard seen.insert(kind).inserted else {
      throw error(at: start, expected: "\(kind.phrase) once")
    }
    next += 1
    var end = start
    if let companion = word.companion, token.isPlainWord(companion) {
      end = token
      next += 1
    }
    let first = end.position + end.source.count
    var depth = 0
    while !isAtEnd, depth > 0 || Self.word(at: next, of: tokens) == nil {
      if token.isSign("(") || token.isSign("[") { depth += 1 }
      if token.isSign(")") || token.isSign("]") { depth -= 1 }
      next += 1
    }
    let text = String(characters[first..<token.position])
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw error(at: token, expected: "\(word.content) behind \(word.phrase)")
    }
    return Part(word: word, token: start, text: text, start: first)
  }

  func number(_ part: Part) throws(ToolError) -> Int {
    let text = part.text.filter { !$0.isWhitespace && $0 != "_" }
    if let number = Int(text), number >= 0 { return number }
    let place = part.text.prefix(while: \.isWhitespace).count + part.start
    throw WhereError(
      text: line,
      position: place,
      expected: part.word.content,
      found: part.text.filter { !$0.isNewline }.trimmedSpaces.printable
    ).toolError(in: part.word.phrase)
  }

  func error(at token: WhereToken, expected: String, advice: String? = nil) -> ToolError {
    WhereError(
      text: line,
      position: token.position,
      expected: expected,
      found: token.found.printable,
      advice: advice
    ).toolError(in: "the question")
  }

  private static func word(at place: Int, of tokens: [WhereToken]) -> QuestionWord? {
    let token = tokens[place]
    guard case .name(let name) = token.kind, !token.source.hasPrefix("`"),
      let word = QuestionWord(rawValue: name.lowercased())
    else { return nil }
    // The shortest of the words is a likely name of a column, and is one unless a number follows.
    if word == .at {
      guard case .integer = tokens[place + 1].kind else { return nil }
    }
    return word
  }
}

extension QuestionWord {
  fileprivate var content: String {
    switch self {
    case .where: "a condition"
    case .columns, .group: "columns with commas between them"
    case .sort, .order: "columns, or -column for downwards,"
    case .limit, .offset: "a number from 0 on"
    case .at: "the number of a commit"
    }
  }
}

extension WhereToken {
  fileprivate func isPlainWord(_ word: String) -> Bool { isWord(word) && !source.hasPrefix("`") }
}

extension String {
  fileprivate var trimmedSpaces: String {
    var text = drop(while: \.isWhitespace)
    while text.last?.isWhitespace ?? false { text.removeLast() }
    return String(text)
  }
}
