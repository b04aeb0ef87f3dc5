/// A line while it is edited: characters as people see them, and a cursor between two of them.
///
/// A character that joins its neighbour becomes one with it, and the cursor is after both: it never divides what a
/// terminal shows as one.
public struct LineBuffer: Hashable, Sendable {
  public private(set) var characters: [Character] = []
  /// Number of characters before the cursor.
  public private(set) var cursor = 0

  /// Limit of the number of characters of a line; further ones are refused.
  static let limit = 1 << 15

  /// Makes a line with its cursor at the end.
  public init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  public var text: String { String(characters) }
  /// The text before the cursor.
  public var head: String { String(characters[..<cursor]) }
  public var isEmpty: Bool { characters.isEmpty }
  var isAtEnd: Bool { cursor == characters.count }

  /// Inserts text at the cursor.
  ///
  /// - Returns: Whether there was room.
  @discardableResult
  mutating func insert(_ text: String) -> Bool {
    replace(cursor..<cursor, with: text)
  }

  /// Replaces characters, and moves the cursor behind the new ones.
  ///
  /// - Returns: Whether there was room.
  @discardableResult
  mutating func replace(_ range: Range<Int>, with text: String) -> Bool {
    guard characters.count - range.count + text.count <= Self.limit else { return false }
    let head = String(characters[..<range.lowerBound]) + text
    let end = head.utf8.count
    characters = Array(head + String(characters[range.upperBound...]))
    cursor = 0
    var length = 0
    while length < end, cursor < characters.count {
      length += characters[cursor].utf8.count
      cursor += 1
    }
    return true
  }

  /// Removes characters, and moves the cursor to their place.
  ///
  /// - Returns: The removed text.
  @discardableResult
  mutating func remove(_ range: Range<Int>) -> String {
    let removed = String(characters[range])
    replace(range, with: "")
    return removed
  }

  mutating func move(to place: Int) { cursor = min(max(place, 0), characters.count) }

  /// Exchanges the characters before and behind the cursor; at the end, the last two.
  mutating func transpose() {
    guard characters.count > 1, cursor > 0 else { return }
    let second = isAtEnd ? cursor - 1 : cursor
    let exchanged = String([characters[second], characters[second - 1]])
    replace((second - 1)..<(second + 1), with: exchanged)
  }

  /// The beginning of the word before the cursor.
  var wordStart: Int {
    var place = cursor
    while place > 0, !characters[place - 1].isWordPart { place -= 1 }
    while place > 0, characters[place - 1].isWordPart { place -= 1 }
    return place
  }

  /// The end of the word after the cursor.
  var wordEnd: Int {
    var place = cursor
    while place < characters.count, !characters[place].isWordPart { place += 1 }
    while place < characters.count, characters[place].isWordPart { place += 1 }
    return place
  }
}

extension Character {
  fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}
