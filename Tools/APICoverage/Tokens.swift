/// The tokens of a Swift declaration: words, and marks such as `->`, `...` or a single character.
struct Tokens: Hashable {
  private(set) var list: ArraySlice<String>

  init(_ text: String) {
    var list: [String] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first.isWhitespace || first == "`" {
        rest.removeFirst()
      } else if first.isWordPart {
        let word = rest.prefix { $0.isWordPart }
        list.append(String(word))
        rest.removeFirst(word.count)
      } else if first == "\"" {
        // Only as a default, whose value does not matter.
        let literal = rest.dropFirst().prefix { $0 != "\"" }
        list.append("\"\"")
        rest = rest.dropFirst(literal.count + 2)
      } else {
        let mark = ["...", "->", "==", "~="].first { rest.hasPrefix($0) } ?? String(first)
        list.append(mark)
        rest.removeFirst(mark.count)
      }
    }
    self.list = list[...]
  }

  init(_ list: ArraySlice<String>) { self.list = list }

  var first: String? { list.first }
  var isEmpty: Bool { list.isEmpty }

  mutating func next() -> String? { list.popFirst() }

  /// Takes the next token if it is this one.
  mutating func take(_ token: String) -> Bool {
    guard list.first == token else { return false }
    list.removeFirst()
    return true
  }

  /// Takes all tokens before the first of `ends` that is not within brackets.
  mutating func takeUpTo(_ ends: Set<String>) -> Tokens {
    var depth = 0
    var index = list.startIndex
    while index < list.endIndex {
      let token = list[index]
      if depth == 0, ends.contains(token) { break }
      if ["(", "[", "<", "{"].contains(token) { depth += 1 }
      if [")", "]", ">", "}"].contains(token) { depth -= 1 }
      index += 1
    }
    defer { list = list[index...] }
    return Tokens(list[list.startIndex..<index])
  }

  /// Takes a bracketed part that starts here, and gives what is between the brackets.
  mutating func takeBracketed(_ open: String, _ close: String) -> Tokens? {
    guard take(open) else { return nil }
    let inner = takeUpTo([close])
    _ = take(close)
    return inner
  }

  /// The parts between the commas that are not within brackets.
  var parts: [Tokens] {
    var rest = self
    var parts: [Tokens] = []
    while !rest.isEmpty {
      parts.append(rest.takeUpTo([","]))
      _ = rest.take(",")
    }
    return parts
  }

  /// The tokens as text, without what does not change a type: `@escaping`, `Self.`.
  var typeText: String {
    var text = ""
    var words = self
    while let token = words.next() {
      if token == "@", words.take("escaping") { continue }
      if token == "Self", words.take(".") { continue }
      if token.first?.isWordPart == true, text.last?.isWordPart == true { text += " " }
      text += token
    }
    return text
  }
}

extension Character {
  var isWordPart: Bool { isLetter || isNumber || self == "_" }
}
