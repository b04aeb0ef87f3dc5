import RowFormat

/// The keys of the rows that a scan reads next, as far as it is worth knowing.
struct KeysAhead {
  /// Some keys, ascending.
  private var keys: [UInt64] = []
  /// The index of the first one in the list of all keys.
  private var start = 0
  /// The place of the key that is read now.
  private var place = 0
  /// Whether the list of all keys ends with these.
  private var isEnd = true

  private static let limit = 64

  /// Whether nothing is known: all rows are read.
  var isEmpty: Bool { keys.isEmpty }

  /// Goes on to a key.
  ///
  /// - Parameters:
  ///   - index: The index of the key; not less than before.
  ///   - all: All keys, ascending.
  @inline(__always)
  mutating func proceed(to index: Int, of all: Span<UInt64>) {
    assert(index >= start, "key \(index) is read after key \(start)")
    place = index - start
    if place >= keys.count || !isEnd && place > Self.limit / 2 { refill(from: index, of: all) }
  }

  private mutating func refill(from index: Int, of all: Span<UInt64>) {
    let end = min(index + Self.limit, all.count)
    keys.removeAll(keepingCapacity: true)
    for next in index..<end { keys.append(all[next]) }
    (start, place, isEnd) = (index, 0, end == all.count)
  }

  /// The keys that are in a block, from the one that is read now: their number, and the least and the greatest.
  ///
  /// - Parameter block: A block with the key that is read now.
  /// - Returns: `nil` if there are many, or nothing is known.
  func keys(of block: BlockEntry) -> (count: Int, keys: ClosedRange<UInt64>)? {
    guard place < keys.count, keys[place] <= block.lastKey else { return nil }
    let end = (place + 1..<keys.count).partitionPoint { keys[$0] <= block.lastKey }
    if end == keys.count, !isEnd { return nil }
    return (end - place, keys[place]...keys[end - 1])
  }
}
