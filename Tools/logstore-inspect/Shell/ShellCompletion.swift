import Foundation
import LogEngine
import Terminal

/// The possible next words in the shell.
struct ShellCompletion {
  private let store: InspectedStore

  init(_ store: InspectedStore) { self.store = store }

  /// Completes the word at the end of a text.
  ///
  /// - Parameters:
  ///   - head: The line up to the cursor.
  ///   - before: The lines that it continues, as one; empty if there are none.
  /// - Returns: The candidates, and the place in the line at which they begin.
  func completion(of head: String, behind before: String) -> Completion {
    if before.isEmpty, head.first(where: { !$0.isWhitespace }) == "." { return command(head) }
    return question(head, behind: before)
  }

  /// The candidates that begin with a text, in whatever case and with backticks or without.
  private func matching(_ text: String, _ candidates: [Completion.Candidate], from start: Int)
    -> Completion
  {
    let typed = text.lowercased()
    var seen: Set<String> = []
    let found = candidates.filter {
      $0.text.drop { $0 == "`" }.lowercased().hasPrefix(typed) && seen.insert($0.text).inserted
    }
    return Completion(from: start, found)
  }
}

// MARK: Questions

extension ShellCompletion {
  private static let conditionWords = [
    "and", "or", "not", "in", "is", "nil", "true", "false", "contains", "startsWith", "endsWith",
  ]

  private func question(_ head: String, behind before: String) -> Completion {
    let open = OpenText(lines: before.isEmpty ? [head] : [before, head])
    let all = Array(open.text)
    let offset = all.count - head.count
    if let quote = open.quote, quote != "`" {
      return value(open.text, open.quoteStart, quote, offset: offset)
    }
    var start = all.count
    if open.quote == "`" {
      start = open.quoteStart
    } else {
      while start > 0, all[start - 1].isNamePart { start -= 1 }
    }
    guard start >= offset, let words = words(of: String(all[..<start])) else { return .none }
    let word = String(all[start...].drop { $0 == "`" })
    var candidates = candidates(behind: words)
    if open.quote == "`" { candidates = candidates.filter { $0.text.hasPrefix("`") } }
    return matching(word, candidates, from: start - offset)
  }

  /// The names and words before the cursor.
  ///
  /// - Returns: `nil` for a line with an error, of which nothing is known.
  private func words(of text: String) -> [WhereToken]? {
    guard let tokens = try? WhereLexer.tokens(of: text) else { return nil }
    return tokens.filter { if case .name = $0.kind { true } else { false } }
  }

  private func candidates(behind words: [WhereToken]) -> [Completion.Candidate] {
    var words = words[...]
    let isExplained = words.first?.isWord("explain") ?? false
    if isExplained { words.removeFirst() }
    let isCount = words.first?.isWord("count") ?? false
    if isCount { words.removeFirst() }
    guard let entity = words.first else {
      let entities = store.tables.map { Completion.Candidate($0.name.asQuestionName) }
      let verbs = isCount ? [] : isExplained ? ["count"] : ["count", "explain"]
      return entities + verbs.map { .init($0) }
    }
    words.removeFirst()
    let allowed: [QuestionWord] =
      isCount ? [.where, .at] : [.where, .columns, .group, .sort, .limit, .offset, .at]
    let used = words.compactMap { QuestionWord(rawValue: $0.source.lowercased()) }
    let clauses = allowed.filter { !used.contains($0) }.map { Completion.Candidate($0.phrase) }
    let columns = columns(of: entity)
    switch used.last {
    case nil, .limit, .offset, .at: return clauses
    case .where:
      return columns + Self.conditionWords.map { .init($0) } + clauses
    case .columns:
      let figures = SelectItem.Function.allCases.map {
        Completion.Candidate($0.rawValue, suffix: $0 == .count ? " " : "(")
      }
      return columns + figures + clauses
    case .group, .sort, .order: return columns + clauses
    }
  }

  private func columns(of entity: WhereToken) -> [Completion.Candidate] {
    guard let table = table(entity) else { return [] }
    return store.askableNames(of: table).map { .init($0.asQuestionName) }
  }

  private func table(_ token: WhereToken) -> TableDefinition? {
    guard case .name(let name) = token.kind else { return nil }
    return store.tables.first { $0.name == name }
      ?? store.tables.first { $0.name.lowercased() == name.lowercased() }
  }
}

// MARK: Values

extension ShellCompletion {
  /// Number of rows that are looked at for values, and number of different ones up to which they are a choice.
  private static let (sampleLimit, valueLimit) = (5_000, 40)

  /// Completes a text from the values of the first rows in the column before it, if that is a choice of few.
  private func value(_ text: String, _ start: Int, _ quote: Character, offset: Int) -> Completion {
    let characters = Array(text)
    guard start >= offset, var words = words(of: String(characters[..<start]))?[...] else {
      return .none
    }
    while let first = words.first, first.isWord("explain") || first.isWord("count") {
      words.removeFirst()
    }
    guard let entity = words.first, let table = table(entity) else { return .none }
    // The nearest name before the quote that is a column of texts.
    let column = words.dropFirst().reversed().lazy.compactMap { word -> ColumnDefinition? in
      guard case .name(let name) = word.kind else { return nil }
      return store.columns(of: table).first { $0.name == name }
    }.first
    guard let column, column.type == .text else { return .none }
    let typed = String(characters[(start + 1)...])
    let values = values(of: column, table).filter { !$0.contains { "\"'\\".contains($0) } }
    let completion = matching(
      typed,
      values.map { .init($0, suffix: "\(quote) ") },
      from: start + 1 - offset
    )
    return completion
  }

  private func values(of column: ColumnDefinition, _ table: TableDefinition) -> [String] {
    let name = column.name.asQuestionName
    guard
      let query = try? RowQuery(
        .init(columns: name, limit: Self.sampleLimit),
        of: table,
        in: store
      )
    else { return [] }
    var values: Set<String> = []
    var run = QueryRun(query, in: store)
    try? run.run { _, cells in
      guard case .text(let text)? = cells.first, values.count <= Self.valueLimit else { return }
      values.insert(text)
    }
    return values.count > Self.valueLimit ? [] : values.sorted()
  }
}

// MARK: Commands

extension ShellCompletion {
  private func command(_ head: String) -> Completion {
    let lead = head.prefix(while: \.isWhitespace).count
    let body = head.dropFirst(lead)
    guard let space = body.firstIndex(where: \.isWhitespace) else {
      let names = DotCommand.allCases.map(\.rawValue) + DotCommand.synonyms.keys.sorted()
      let commands = names.compactMap { name -> Completion.Candidate? in
        guard let command = try? DotCommand(named: name) else { return nil }
        return .init("." + name, suffix: command.argumentCount.upperBound == 0 ? "" : " ")
      }
      return matching(String(body), commands, from: lead)
    }
    guard let command = try? DotCommand(named: String(body[..<space].dropFirst())) else {
      return .none
    }
    let word = String(body[space...].drop(while: \.isWhitespace))
    guard !word.contains(where: \.isWhitespace) else { return .none }
    let start = head.count - word.count
    let choices: [Completion.Candidate]
    switch command {
    case .mode: choices = ShellSettings.Mode.allCases.map { .init($0.rawValue, suffix: "") }
    case .explain, .headers, .timer: choices = ["on", "off"].map { .init($0, suffix: "") }
    case .limit: choices = ["off", "screen"].map { .init($0, suffix: "") }
    case .schema: choices = store.tables.map { .init($0.name, suffix: "") }
    case .get: choices = store.tables.map { .init($0.name) }
    case .help:
      choices =
        (DotCommand.allCases.map(\.rawValue) + ["questions"]).map { .init($0, suffix: "") }
    case .once, .open, .output, .read: choices = paths(word)
    case .commits, .exit, .history, .quit, .show, .tables: choices = []
    }
    return matching(word, choices, from: start)
  }

  /// The files and folders with which a path could continue.
  private func paths(_ word: String) -> [Completion.Candidate] {
    let folder = word.lastIndex(of: "/").map { String(word[...$0]) } ?? ""
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    let showsHidden = word.dropFirst(folder.count).hasPrefix(".")
    return names.sorted().filter { showsHidden || !$0.hasPrefix(".") }.map { name in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: folder + name, isDirectory: &isFolder)
      // A store is a folder, too: its contents are for another press of the key.
      return .init(folder + name, suffix: isFolder.boolValue ? "/" : "")
    }
  }
}

extension Character {
  fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" }
}

extension String {
  /// The name as a question has it: between backticks unless it is a plain word without another meaning.
  var asQuestionName: String {
    let isPlain = first.map { $0.isLetter || $0 == "_" } ?? false
    let isWord =
      QuestionWord(rawValue: lowercased()) != nil || ConditionParser.isWord(self)
      || ["explain", "count"].contains(lowercased())
    return isPlain && !isWord && allSatisfy(\.isNamePart) ? self : "`\(self)`"
  }
}
