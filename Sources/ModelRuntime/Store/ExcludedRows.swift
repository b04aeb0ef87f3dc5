package import RowFormat

/// The rows that a store leaves out of an answer about its rows, because a context has newer versions of them.
package final class ExcludedRows {
  /// The keys of such rows of one table.
  ///
  /// A scan asks for each of its rows, so keys that are near each other are bits.
  package struct Keys: Sendable {
    /// Bits of keys from ``firstWord`` times 64 on.
    private var words: [UInt64] = []
    private var firstWord: UInt64 = 0
    /// The keys that were far from those when they were added.
    private var others: Set<UInt64> = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    @inline(__always)
    package func contains(_ key: UInt64) -> Bool {
      let word = key / 64 &- firstWord
      if word < UInt64(words.count), words[Int(word)] >> (key % 64) & 1 == 1 { return true }
      return !others.isEmpty && others.contains(key)
    }

    /// The keys, ascending.
    package var sorted: [UInt64] {
      var keys = Array(others)
      for (place, word) in words.enumerated() {
        var rest = word
        while rest != 0 {
          keys.append((firstWord + UInt64(place)) * 64 + UInt64(rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
      return keys.sorted()
    }

    mutating func insert(_ key: UInt64) {
      if contains(key) { return }
      count += 1
      if makeRoom(for: key / 64) {
        words[Int(key / 64 - firstWord)] |= 1 << (key % 64)
      } else {
        others.insert(key)
      }
    }

    /// Makes a word one of the bits' words, unless they would take more memory than a set of the keys.
    private mutating func makeRoom(for word: UInt64) -> Bool {
      if words.isEmpty { firstWord = word }
      let end = max(firstWord + UInt64(words.count), word + 1)
      let start = min(firstWord, word)
      let size = Int(truncatingIfNeeded: end - start)
      guard size <= max(2 * count, 64) else { return false }
      if start < firstWord {
        // As much again, so that keys that descend do not move the words each time.
        let first = start - min(start, UInt64(size))
        words.insert(contentsOf: repeatElement(0, count: Int(firstWord - first)), at: 0)
        firstWord = first
      } else if words.count < size {
        words.append(contentsOf: repeatElement(0, count: size - words.count))
      }
      assert(words.count <= 2 * max(2 * count, 64), "\(words.count) words of \(count) keys")
      return true
    }
  }

  private var tables: [UInt16: Keys] = [:]

  package init() {}

  package var isEmpty: Bool { tables.isEmpty }

  func insert(_ row: RowReference) { tables[row.table, default: Keys()].insert(row.key) }

  package func contains(_ row: RowReference) -> Bool {
    tables[row.table]?.contains(row.key) ?? false
  }

  /// The keys of a table's rows.
  package func keys(of table: UInt16) -> Keys { tables[table] ?? Keys() }
}
