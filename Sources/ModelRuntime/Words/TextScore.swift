import Foundation
import RowFormat

/// How texts that have the words of a query are ranked: Okapi BM25.
///
/// A word counts for more the fewer texts have it, and the more often it is in the text; a long text has to have it more
/// often. The scores of several properties are added up.
package enum TextScore {
  /// How soon more occurrences of a word count for less.
  private static let saturation = 1.2
  /// How much the length of a text matters.
  private static let lengthWeight = 0.75

  /// What is known of all texts of one property.
  package struct Statistics: Sendable {
    /// How many texts there are.
    package var textCount = 0
    /// How many words they have together.
    package var wordCount = 0
    /// How many texts have each term of the query.
    package var termCounts: [Int]

    package init(termCount: Int) { termCounts = Array(repeating: 0, count: termCount) }

    /// What one text scores for a term.
    ///
    /// - Parameters:
    ///   - term: The term's number.
    ///   - times: How often the text has it.
    ///   - length: How many words the text has.
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

/// The words of one model's texts, as far as a query asks for them.
package struct SearchedTexts {
  /// How often each term is in each text.
  package private(set) var times: [[Int]] = []
  /// How many words each text has.
  package private(set) var lengths: [Int] = []
  private var clauses: Set<TextQuery.Clause> = []
  private let query: TextQuery
  private let terms: [TextQuery.Term]

  package init(_ query: TextQuery, _ terms: [TextQuery.Term]) {
    self.query = query
    self.terms = terms
  }

  /// Adds the text of a property; the scanner's memory is used again.
  package mutating func add(_ text: RawSpan, _ scanner: WordScanner) {
    var times = [Int](repeating: 0, count: terms.count)
    var length = 0
    // The last words, as many as a clause has.
    let longest = (query.wanted + query.unwanted).map(\.words.count).max() ?? 0
    var last: [[UInt8]] = []
    var longWordCount = 0
    scanner.scan(text) { word, _ in
      length += 1
      // What a word that is too long stands between is not one behind the other.
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
    self.times.append(times)
    lengths.append(length)
  }

  /// Whether the texts have what the query wants, and nothing that it does not want.
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
