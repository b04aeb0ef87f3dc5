/// Reads a condition by recursive descent; see ``Condition`` for the grammar.
struct ConditionParser {
  private let text: String
  private let tokens: [WhereToken]
  private var next = 0
  private var depth = 0

  /// Limit of the depth of parentheses and negations.
  static let depthLimit = 64

  private static let words: Set<String> = [
    "and", "or", "not", "in", "is", "nil", "null", "true", "false", "contains", "startswith",
    "endswith", "beginswith", "hasprefix", "hassuffix",
  ]

  /// Whether a name means something in a condition, so that a column of that name is written between backticks.
  static func isWord(_ name: String) -> Bool { words.contains(name.lowercased()) }

  /// Reads a condition.
  ///
  /// - Throws: ``WhereError`` for the first thing that does not fit.
  static func condition(_ text: String) throws(WhereError) -> Condition {
    var parser = ConditionParser(text: text, tokens: try WhereLexer.tokens(of: text))
    let condition = try parser.condition()
    guard parser.token.kind == .end else {
      throw parser.error("&&, || or the end")
    }
    return condition
  }

  private init(text: String, tokens: [WhereToken]) {
    self.text = text
    self.tokens = tokens
  }

  private var token: WhereToken { tokens[next] }

  private mutating func advance() { if next < tokens.count - 1 { next += 1 } }

  private mutating func take(sign: String) -> Bool {
    guard token.isSign(sign) else { return false }
    advance()
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard token.isWord(word), !token.source.hasPrefix("`") else { return false }
    advance()
    return true
  }

  private func error(_ expected: String, at token: WhereToken? = nil, advice: String? = nil)
    -> WhereError
  {
    let token = token ?? self.token
    return WhereError(
      text: text,
      position: token.position,
      expected: expected,
      found: token.found,
      advice: advice
    )
  }
}

// MARK: Logic

extension ConditionParser {
  private mutating func condition() throws(WhereError) -> Condition {
    var parts = [try conjunction()]
    while take(sign: "||") || take(word: "or") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction() throws(WhereError) -> Condition {
    var parts = [try negation()]
    while take(sign: "&&") || take(word: "and") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func negation() throws(WhereError) -> Condition {
    let start = token
    if take(sign: "!") || take(word: "not") {
      return .not(try nested(from: start) { parser throws(WhereError) in try parser.negation() })
    }
    guard take(sign: "(") else { return try test() }
    let condition = try nested(from: start) { parser throws(WhereError) in try parser.condition() }
    guard take(sign: ")") else { throw error(")") }
    return condition
  }

  private mutating func nested(
    from start: WhereToken,
    _ body: (inout ConditionParser) throws(WhereError) -> Condition
  ) throws(WhereError) -> Condition {
    guard depth < Self.depthLimit else {
      throw error("at most \(Self.depthLimit) parentheses and negations in each other", at: start)
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }
}

// MARK: Tests

extension ConditionParser {
  private mutating func test() throws(WhereError) -> Condition {
    let operand = try operand("a column or a value")
    if let relation = takeRelation() {
      return .comparison(operand, relation, try self.operand("a value or a column"))
    }
    if take(sign: ".") { return try call(operand) }
    let isNegated = take(word: "not")
    if take(word: "in") { return negated(try membership(operand), isNegated) }
    if let test = takeTextTest() {
      let ignoresCase = try takeCaseOption()
      let text = try literal("a text")
      return negated(.text(operand, test, text, ignoresCase: ignoresCase), isNegated)
    }
    if isNegated { throw error("in, contains, startsWith or endsWith") }
    if take(word: "is") {
      let relation = take(word: "not") ? Condition.Relation.notEqual : .equal
      let value = try literal("nil")
      guard value.value == .null else { throw error("nil", at: value.token) }
      return .comparison(operand, relation, .literal(value))
    }
    switch operand {
    case .column: break
    case .literal(let literal):
      switch literal.value {
      case .bool: break
      default: throw error("a relation such as == or <")
      }
    }
    switch token.kind {
    case .end: return .flag(operand)
    case .sign(let sign) where [")", "&&", "||"].contains(sign): return .flag(operand)
    case .name where token.isWord("and") || token.isWord("or"): return .flag(operand)
    default:
      throw error("a relation such as == or <, in, contains, startsWith, endsWith, is, && or ||")
    }
  }

  private func negated(_ condition: Condition, _ isNegated: Bool) -> Condition {
    isNegated ? .not(condition) : condition
  }

  private mutating func takeRelation() -> Condition.Relation? {
    let relations: [(String, Condition.Relation)] = [
      ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
      (">=", .greaterOrEqual), ("<", .less), (">", .greater),
    ]
    for (sign, relation) in relations where take(sign: sign) { return relation }
    return nil
  }

  private mutating func takeTextTest() -> Condition.TextTest? {
    let words: [(String, Condition.TextTest)] = [
      ("contains", .contains), ("startswith", .startsWith), ("beginswith", .startsWith),
      ("hasprefix", .startsWith), ("endswith", .endsWith), ("hassuffix", .endsWith),
    ]
    for (word, test) in words where take(word: word) { return test }
    return nil
  }

  /// `[c]` behind a test of texts.
  private mutating func takeCaseOption() throws(WhereError) -> Bool {
    guard take(sign: "[") else { return false }
    guard take(word: "c") else { throw error("c, for a test in which case does not matter") }
    guard take(sign: "]") else { throw error("]") }
    return true
  }

  private mutating func call(_ operand: Condition.Operand) throws(WhereError) -> Condition {
    guard let test = takeTextTest() else {
      throw error(
        "contains, startsWith or endsWith",
        advice: "a condition is about columns of one entity; it follows no relationships"
      )
    }
    guard take(sign: "(") else { throw error("(") }
    let text = try literal("a text")
    guard take(sign: ")") else { throw error(")") }
    return .text(operand, test, text, ignoresCase: false)
  }

  private mutating func membership(_ operand: Condition.Operand) throws(WhereError) -> Condition {
    let closing = token.isSign("[") ? "]" : ")"
    guard take(sign: "[") || take(sign: "(") else {
      let lower = try literal("a list such as [1, 2], or a range such as 1...5")
      let includesUpper = token.isSign("...")
      guard take(sign: "...") || take(sign: "..<") else { throw error("... or ..<") }
      let upper = try literal("a value")
      return .range(operand, lower, upper, includesUpper: includesUpper)
    }
    var values: [Condition.Literal] = []
    if !token.isSign(closing) {
      repeat { values.append(try literal("a value")) } while take(sign: ",")
    }
    guard take(sign: closing) else { throw error(", or \(closing)") }
    return .membership(operand, values)
  }

  // MARK: Operands

  private mutating func operand(_ expected: String) throws(WhereError) -> Condition.Operand {
    let start = token
    if case .name(let name) = start.kind,
      start.source.hasPrefix("`") || !Self.words.contains(name.lowercased())
    {
      advance()
      return .column(name, start)
    }
    return .literal(try literal(expected))
  }

  private mutating func literal(_ expected: String) throws(WhereError) -> Condition.Literal {
    let start = token
    let value: Condition.Literal.Value
    switch start.kind {
    case .text(let text): value = .text(text)
    case .integer(let number): value = .integer(number)
    case .unsigned(let number): value = .unsigned(number)
    case .double(let number): value = .double(number)
    case .name where start.isWord("true"): value = .bool(true)
    case .name where start.isWord("false"): value = .bool(false)
    case .name where start.isWord("nil") || start.isWord("null"): value = .null
    default:
      let isColumn = if case .name = start.kind { true } else { false }
      throw error(
        expected,
        advice: isColumn ? "a text stands between quotes: \"\(start.source)\"" : nil
      )
    }
    advance()
    return Condition.Literal(value: value, token: start)
  }
}
