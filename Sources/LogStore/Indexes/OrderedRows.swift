import RowFormat

/// Rows in the order of a number each has: sixteen bytes a row, and a quarter of room.
///
/// Entries stand in blocks of some hundreds, so that adding one moves a few kilobytes at most, however
/// many there are. A row may stand in it under several numbers, under each once.
struct OrderedRows: Sendable {
  struct Entry: Comparable, Sendable {
    let prefix: UInt64
    let row: RowReference

    static func < (lhs: Entry, rhs: Entry) -> Bool {
      lhs.prefix != rhs.prefix ? lhs.prefix < rhs.prefix : lhs.row < rhs.row
    }
  }

  enum Direction { case forward, backward }

  private static let largestBlock = 512

  /// None is empty.
  private var blocks: [[Entry]] = []
  private(set) var count = 0

  init() {}

  /// Takes entries in any order, each once.
  init(_ entries: consuming [Entry]) {
    entries.sort()
    count = entries.count
    let size = OrderedRows.largestBlock * 3 / 4
    blocks = stride(from: 0, to: entries.count, by: size).map {
      Array(entries[$0..<min($0 + size, entries.count)])
    }
  }

  /// The entry with the least number, and the one with the greatest.
  var first: Entry? { blocks.first?.first }
  var last: Entry? { blocks.last?.last }

  /// Adds an entry, unless it is there.
  mutating func insert(_ entry: Entry) {
    guard !blocks.isEmpty else {
      blocks = [[entry]]
      count = 1
      return
    }
    let block = max(firstBlock(startingAfter: entry) - 1, 0)
    let place = blocks[block].firstIndex(notBefore: entry)
    if place < blocks[block].count, blocks[block][place] == entry { return }
    blocks[block].insert(entry, at: place)
    count += 1
    if blocks[block].count > OrderedRows.largestBlock { split(block, after: place) }
  }

  /// Takes out an entry, if it is there.
  mutating func remove(_ entry: Entry) {
    let block = firstBlock(startingAfter: entry) - 1
    guard block >= 0 else { return }
    let place = blocks[block].firstIndex(notBefore: entry)
    guard place < blocks[block].count, blocks[block][place] == entry else { return }
    blocks[block].remove(at: place)
    count -= 1
    if blocks[block].isEmpty { blocks.remove(at: block) }
  }

  /// How many entries have a number in a range.
  func count(in range: ClosedRange<UInt64>) -> Int {
    position(notBefore: range.upperBound, orEqual: true)
      - position(notBefore: range.lowerBound, orEqual: false)
  }

  /// Calls a closure with the entries of a range, in order, until it returns `false`.
  func forEach(
    in range: ClosedRange<UInt64> = 0 ... .max,
    _ direction: Direction = .forward,
    _ body: (Entry) throws -> Bool
  ) rethrows {
    switch direction {
    case .forward:
      let start = Entry(prefix: range.lowerBound, row: .none)
      for block in blocks[max(firstBlock(startingAfter: start) - 1, 0)...] {
        for entry in block[block.firstIndex(notBefore: start)...] {
          guard entry.prefix <= range.upperBound, try body(entry) else { return }
        }
      }
    case .backward:
      let end = Entry(prefix: range.upperBound, row: RowReference(rawValue: .max))
      for block in blocks[..<firstBlock(startingAfter: end)].reversed() {
        for entry in block[..<block.firstIndex(notBefore: end)].reversed() {
          guard entry.prefix >= range.lowerBound, try body(entry) else { return }
        }
      }
    }
  }

  /// How many entries come before those of a number, or before those of the next.
  private func position(notBefore prefix: UInt64, orEqual: Bool) -> Int {
    let bound = Entry(prefix: prefix, row: orEqual ? RowReference(rawValue: .max) : .none)
    let block = firstBlock(startingAfter: bound) - 1
    guard block >= 0 else { return 0 }
    return blocks[..<block].reduce(0) { $0 + $1.count } + blocks[block].firstIndex(notBefore: bound)
  }

  private func firstBlock(startingAfter entry: Entry) -> Int {
    var low = 0
    var high = blocks.count
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle][0] <= entry { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Splits a block that is full; in the middle, or at its end if entries come in order.
  private mutating func split(_ block: Int, after place: Int) {
    let size = blocks[block].count
    let middle = block == blocks.count - 1 && place == size - 1 ? size - 1 : size / 2
    let rest = Array(blocks[block][middle...])
    blocks[block].removeSubrange(middle...)
    blocks.insert(rest, at: block + 1)
  }
}

extension [OrderedRows.Entry] {
  fileprivate func firstIndex(notBefore entry: OrderedRows.Entry) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < entry { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
