import Foundation
import RowFormat

/// The ranking of texts with the words of a query: Okapi BM25.
///
/// A word counts for more the fewer texts have it, and the more often it is in the text; a long text has to have it more
/// often. The scores of several properties are added up.
package enum TextScore {
  /// The saturation constant *k₁*: a lower value makes more occurrences of a word count for less, sooner.
  private static let saturation = 1.2
  /// The length constant *b*: the influence of a text's length.
  private static let lengthWeight = 0.75
  /// The most words of a text, and the most occurrences of a term in it, that count: as many as an index of words can
  /// count.
  package static let mostCounted = Int(UInt16.max)

  /// The statistics of all texts of one property: those that have words, since an index of words knows no others.
  package struct Statistics: Sendable {
    /// Number of texts.
    package var textCount = 0
    /// Total number of words in the texts.
    package var wordCount = 0
    /// Number of texts with each term of the query.
    package var termCounts: [Int]

    package init(termCount: Int) { termCounts = Array(repeating: 0, count: termCount) }

    /// Adds a text, unless it has no words.
    ///
    /// - Parameters:
    ///   - times: The number of occurrences of each term in the text.
    ///   - length: The number of words in the text.
    package mutating func add(times: [Int], length: Int) {
      if length == 0 { return }
      textCount += 1
      wordCount += length
      for (term, times) in times.enumerated() where times > 0 { termCounts[term] += 1 }
    }

    /// Returns the score of one text for a term.
    ///
    /// - Parameters:
    ///   - term: The term's number.
    ///   - times: The number of occurrences in the text.
    ///   - length: The number of words in the text.
    /// - Returns: The score, more than zero.
    package func score(_ term: Int, times: Int, length: Int) -> Double {
      let (all, having) = (Double(max(textCount, termCounts[term])), Double(termCounts[term]))
      let rarity = log(1 + (all - having + 0.5) / (having + 0.5))
      let average = max(Double(wordCount) / max(Double(textCount), 1), 1)
      let long = 1 - lengthWeight + lengthWeight * Double(length) / average
      let times = Double(times)
      return rarity * times * (saturation + 1) / (times + saturation * long)
    }
  }
}

/// The words of one model's texts that a query uses.
package struct SearchedTexts {
  /// Number of occurrences of each term in each text, ``TextScore/mostCounted`` at most.
  package private(set) var times: [[Int]] = []
  /// Number of words in each text, ``TextScore/mostCounted`` at most.
  package private(set) var lengths: [Int] = []
  private var clauses: Set<TextQuery.Clause> = []
  private let query: TextQuery
  private let terms: [TextQuery.Term]

  package init(_ query: TextQuery, _ terms: [TextQuery.Term]) {
    self.query = query
    self.terms = terms
  }

  /// Adds the text of a property; the scanner's memory is reused.
  package mutating func add(_ text: RawSpan, _ scanner: WordScanner) {
    var times = [Int](repeating: 0, count: terms.count)
    var length = 0
    // The last words, up to the length of the longest clause.
    let longest = (query.wanted + query.unwanted).map(\.words.count).max() ?? 0
    var last: [[UInt8]] = []
    var longWordCount = 0
    scanner.scan(text) { word, _ in
      length += 1
      // Words with an overlong word between them do not follow one another.
      if scanner.longWordCount > longWordCount {
        longWordCount = scanner.longWordCount
        last.removeAll(keepingCapacity: true)
      }
      let word = unsafe word.withUnsafeBytes { unsafe Array($0) }
      for (number, term) in terms.enumerated() where term.matches(word) { times[number] += 1 }
      last.append(word)
      if last.count > longest { last.removeFirst() }
      for clause in query.wanted where clause.isAtEnd(of: last) { clauses.insert(clause) }
      for clause in query.unwanted where clause.isAtEnd(of: last) { clauses.insert(clause) }
    }
    self.times.append(times.map { min($0, TextScore.mostCounted) })
    lengths.append(min(length, TextScore.mostCounted))
  }

  /// Whether the texts have the wanted clauses of the query, and no unwanted one.
  package var match: Bool {
    query.wanted.allSatisfy(clauses.contains) && !query.unwanted.contains(where: clauses.contains)
  }

  /// The score of the texts.
  package func score(_ statistics: [TextScore.Statistics]) -> Double {
    var score = 0.0
    for (property, statistics) in statistics.enumerated() {
      for term in terms.indices where times[property][term] > 0 {
        score += statistics.score(
          term,
          times: times[property][term],
          length: lengths[property]
        )
      }
    }
    return score
  }
}

extension TextQuery.Clause {
  /// Whether some words end with those of the clause.
  fileprivate func isAtEnd(of last: [[UInt8]]) -> Bool {
    guard last.count >= words.count else { return false }
    return zip(last.suffix(words.count), terms).allSatisfy { $1.matches($0) }
  }
}
