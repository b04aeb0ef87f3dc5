/// The words of a ranked search.
///
///     budget 2026          both words
///     budg*                words with this beginning
///     "next year"          these words, one after the other
///     budget -draft        not with the word after the minus sign
///
/// Case and diacritics are ignored: "Zoe" finds "ZOË", and "strasse" finds "Straße". There is no dictionary of any
/// language: "house" does not find "houses", which `house*` does. A word is a run of letters and digits, so `don't` is the
/// two words "don" and "t", one after the other. In Chinese, Japanese and Thai, each character is a word. Korean
/// syllables that are spelled as single letters, as in file names of macOS, separate words, and U+0000 is left out.
///
/// Any text is a query. Characters other than letters, digits and the signs above separate words. No text has a word of
/// more than 64 bytes of UTF-8, so a query for one finds nothing. The first 256 words count, and those after them are left
/// out; so a query that was pasted costs no more than one that was typed.
public struct TextQuery: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The query as it was written.
  public let description: String
  /// The clauses that a text must have.
  package let wanted: [Clause]
  /// The clauses that a text must not have.
  package let unwanted: [Clause]

  /// The words that score texts.
  package let terms: [Term]

  /// Maximum number of words in a query, unwanted ones included.
  static let wordLimit = 256

  /// Words, one after the other.
  package struct Clause: Sendable, Hashable {
    /// The words, folded, in UTF-8.
    package let words: [[UInt8]]
    /// Whether more may follow the last word's letters.
    package let isPrefix: Bool
    /// The words that score texts.
    package let terms: [Term]
  }

  /// Parses a query as typed by a user.
  public init(_ text: String) {
    description = text
    var wanted: [Clause] = []
    var unwanted: [Clause] = []
    var known: (wanted: Set<Clause>, unwanted: Set<Clause>) = ([], [])
    var room = Self.wordLimit
    var isHopeless = false
    func add(_ part: Substring, _ isUnwanted: Bool) {
      var hasLongWord = false
      let clause = Clause(part, atMost: room, &hasLongWord)
      if hasLongWord {
        // No text has it: wanting it finds nothing, and not wanting it changes nothing.
        if !isUnwanted { isHopeless = true }
        return
      }
      guard let clause else { return }
      if isUnwanted {
        if !known.unwanted.insert(clause).inserted { return }
        unwanted.append(clause)
      } else {
        if !known.wanted.insert(clause).inserted { return }
        wanted.append(clause)
      }
      room -= clause.words.count
    }
    var rest = text[...]
    while room > 0, let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
        continue
      }
      let isUnwanted = first == "-"
      if isUnwanted { rest.removeFirst() }
      let part: Substring
      if rest.first == "\"" {
        rest.removeFirst()
        let end = rest.firstIndex(of: "\"") ?? rest.endIndex
        part = rest[..<end]
        rest = rest[end...].dropFirst()
        if rest.first == "*" {
          rest.removeFirst()
          add(part + "*", isUnwanted)
          continue
        }
      } else {
        let end = rest.firstIndex { $0.isWhitespace || $0 == "\"" } ?? rest.endIndex
        part = rest[..<end]
        rest = rest[end...]
      }
      add(part, isUnwanted)
    }
    if isHopeless { (wanted, unwanted) = ([], []) }
    self.wanted = wanted
    self.unwanted = unwanted
    var seen: Set<Term> = []
    terms = wanted.flatMap(\.terms).filter { seen.insert($0).inserted }
  }

  public init(stringLiteral text: String) { self.init(text) }

  /// Whether the query has no word to search for, or one that is too long; then it finds nothing.
  public var isEmpty: Bool { wanted.isEmpty }
}

extension TextQuery.Clause {
  /// Parses words, or returns `nil` if none of them can be in a text; words beyond a limit are left out.
  ///
  /// - Parameters:
  ///   - part: The words.
  ///   - limit: Maximum number of words.
  ///   - hasLongWord: Set to whether one of them is too long to be in a text.
  fileprivate init?(_ part: Substring, atMost limit: Int, _ hasLongWord: inout Bool) {
    var words: [[UInt8]] = []
    var end = 0
    let utf8 = Array(part.utf8)
    let scanner = WordScanner()
    var longWordCount = 0
    unsafe scanner.scan(utf8.span.bytes) { word, place in
      if words.count == limit { return }
      longWordCount = scanner.longWordCount
      words.append(unsafe word.withUnsafeBytes { unsafe Array($0) })
      end = place.range.upperBound
    }
    hasLongWord = longWordCount > 0 || words.count < limit && scanner.longWordCount > 0
    if words.isEmpty { return nil }
    let isPrefix = end < utf8.count && utf8[end] == UInt8(ascii: "*")
    self.words = words
    self.isPrefix = isPrefix
    terms = words.enumerated().map { place, word in
      TextQuery.Term(word: word, isPrefix: isPrefix && place == words.count - 1)
    }
  }
}

extension TextQuery {
  /// A word that scores texts.
  package struct Term: Sendable, Hashable {
    /// The word, folded, in UTF-8.
    package let word: [UInt8]
    /// Whether more letters may follow.
    package let isPrefix: Bool

    /// Whether a word of a text matches.
    package func matches(_ other: [UInt8]) -> Bool {
      isPrefix ? other.starts(with: word) : other == word
    }
  }

  /// Whether the words alone do not determine the matching texts.
  package var needsTexts: Bool { !unwanted.isEmpty || wanted.contains { $0.words.count > 1 } }
}
