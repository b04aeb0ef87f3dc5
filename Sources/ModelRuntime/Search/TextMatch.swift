/// A model that a search found.
public struct TextMatch<Model: PersistentModel> {
  /// The model.
  public let model: Model
  /// The quality of the match: more is better.
  ///
  /// Scores of different searches are not comparable.
  public let score: Double
  let query: TextQuery

  /// The part of a text that best shows the matches.
  ///
  /// - Parameters:
  ///   - property: A property with text.
  ///   - length: The approximate number of characters to show.
  /// - Returns: `nil` if the text has none of the words.
  /// - Complexity: O(text).
  public func snippet(of property: KeyPath<Model, String>, length: Int = 160) -> TextSnippet? {
    TextSnippet(of: model[keyPath: property], query, length: length)
  }

  /// The part of a text that best shows the matches.
  ///
  /// - Parameters:
  ///   - property: A property that may have text.
  ///   - length: The approximate number of characters to show.
  /// - Returns: `nil` if there is no text, or it has none of the words.
  public func snippet(of property: KeyPath<Model, String?>, length: Int = 160) -> TextSnippet? {
    model[keyPath: property].flatMap { TextSnippet(of: $0, query, length: length) }
  }
}

/// A part of a text, with the matching words in it.
public struct TextSnippet: Sendable, Hashable {
  /// The part, cut between words; "…" marks omissions.
  public let text: String
  /// The ranges of the words, in their order.
  public let ranges: [Range<String.Index>]

  /// The part of a text that has most of a query's words.
  init?(of text: String, _ query: TextQuery, length: Int) {
    var text = text
    text.makeContiguousUTF8()
    var words: [(range: Range<Int>, term: Int?)] = []
    let terms = query.terms
    let utf8 = Array(text.utf8)
    unsafe WordScanner().scan(utf8.span.bytes) { word, place in
      let word = unsafe word.withUnsafeBytes { unsafe Array($0) }
      words.append((place.range, terms.firstIndex { $0.matches(word) }))
    }
    guard let window = TextSnippet.window(words, terms.count, length) else { return nil }

    // Whole words before and after, as far as there is room.
    var (first, last) = (window.lowerBound, window.upperBound)
    func size(_ first: Int, _ last: Int) -> Int {
      words[last].range.upperBound - words[first].range.lowerBound
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      if first > 0, size(first - 1, last) <= length {
        first -= 1
        isGrowing = true
      }
      if last + 1 < words.count, size(first, last + 1) <= length {
        last += 1
        isGrowing = true
      }
    }
    // Text before the first word and after the last one is shown if it is short.
    let (head, tail) = (words[first].range.lowerBound, words[last].range.upperBound)
    let start = first == 0 && head <= length ? 0 : head
    let end = last == words.count - 1 && utf8.count - tail <= length ? utf8.count : tail
    func index(_ offset: Int) -> String.Index {
      text.utf8.index(text.startIndex, offsetBy: offset)
    }
    var result = start == 0 ? "" : "…"
    let lead = result.utf8.count
    result += text[index(start)..<index(end)]
    let offset = start - lead
    if end < utf8.count { result += "…" }
    self.text = result
    ranges = words[first...last].filter { $0.term != nil }.map { word in
      let lower = result.utf8.index(result.startIndex, offsetBy: word.range.lowerBound - offset)
      let upper = result.utf8.index(result.startIndex, offsetBy: word.range.upperBound - offset)
      return lower..<upper
    }
  }

  /// The words, within some length, that have the most distinct terms, and then the most in all; the first such window.
  private static func window(
    _ words: [(range: Range<Int>, term: Int?)],
    _ termCount: Int,
    _ length: Int
  ) -> ClosedRange<Int>? {
    let hits = words.indices.filter { words[$0].term != nil }
    var counts = [Int](repeating: 0, count: termCount)
    var different = 0
    var first = 0
    var best: (different: Int, count: Int, window: ClosedRange<Int>)?
    for (last, hit) in hits.enumerated() {
      guard let term = words[hit].term else { continue }
      counts[term] += 1
      if counts[term] == 1 { different += 1 }
      while first < last, words[hit].range.upperBound - words[hits[first]].range.lowerBound > length
      {
        if let term = words[hits[first]].term {
          counts[term] -= 1
          if counts[term] == 0 { different -= 1 }
        }
        first += 1
      }
      let count = last - first + 1
      if let best, (different, count) <= (best.different, best.count) { continue }
      best = (different, count, hits[first]...hit)
    }
    return best?.window
  }
}
