import RowFormat

/// The key of a row in an index: up to four words, ordered one after the other.
///
/// An index uses as many as its columns need; the others are zero.
struct IndexKey: Hashable, Sendable {
  static let wordLimit = 4

  private var words: (UInt64, UInt64, UInt64, UInt64)

  init(_ first: UInt64 = 0, _ second: UInt64 = 0) { words = (first, second, 0, 0) }

  /// A key all of whose words are the same.
  init(repeating word: UInt64) { words = (word, word, word, word) }

  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get {
      switch index {
      case 0: words.0
      case 1: words.1
      case 2: words.2
      default: words.3
      }
    }
    set {
      switch index {
      case 0: words.0 = newValue
      case 1: words.1 = newValue
      case 2: words.2 = newValue
      default: words.3 = newValue
      }
    }
  }

  /// The same key, but for what follows the first words.
  func prefix(_ count: Int, then rest: UInt64) -> IndexKey {
    var key = self
    for index in count..<max(count, IndexKey.wordLimit) { key[index] = rest }
    return key
  }

  /// Whether the first words are those of another key.
  func hasPrefix(_ count: Int, of other: IndexKey) -> Bool {
    (0..<count).allSatisfy { self[$0] == other[$0] }
  }

  static func == (lhs: IndexKey, rhs: IndexKey) -> Bool { lhs.words == rhs.words }

  func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

extension IndexKey: Comparable {
  @inline(__always)
  static func < (lhs: IndexKey, rhs: IndexKey) -> Bool { lhs.words < rhs.words }
}

/// A row and its key.
struct IndexEntry: Hashable, Sendable {
  let key: IndexKey
  let row: RowReference

  /// A bound before all entries with the first words of a key, and one behind them.
  static func start(of key: IndexKey, _ wordCount: Int) -> IndexEntry {
    IndexEntry(key: key.prefix(wordCount, then: 0), row: .none)
  }
  static func end(of key: IndexKey, _ wordCount: Int) -> IndexEntry {
    IndexEntry(key: key.prefix(wordCount, then: .max), row: RowReference(rawValue: .max))
  }
}

extension IndexEntry: Comparable {
  static func < (lhs: IndexEntry, rhs: IndexEntry) -> Bool {
    lhs.key != rhs.key ? lhs.key < rhs.key : lhs.row < rhs.row
  }
}

/// A commit's change to a row, as one index sees it.
struct IndexChange: Sendable {
  let row: RowReference
  /// The row's keys before and after the commit; `nil` if the index leaves it out.
  let old: IndexKey?
  let new: IndexKey?
}
