/// The result of a fetch in batches: its elements are loaded as they are asked for, and few are kept.
///
/// What is fixed when the fetch runs is which elements there are and in what order: eight bytes and an
/// identifier for each. Walking a million models thus needs memory for a few batches of them.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  public typealias Index = Int

  private let batches: FetchBatches<Element>

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    batches = FetchBatches(count: count, batchSize: batchSize, load: load)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { batches.count }

  /// The element at a position, loaded with its batch if it is not at hand.
  ///
  /// - Complexity: O(1) within a batch that is at hand, else one fetch of a batch.
  public subscript(position: Int) -> Element { batches.element(at: position) }
}

/// The batches that are at hand: the last few that were asked for.
private final class FetchBatches<Element> {
  let count: Int
  private let batchSize: Int
  private let load: (Range<Int>) -> [Element]
  /// The loaded batches, the one asked for last at the end.
  private var recent: [(number: Int, elements: [Element])] = []
  private static var kept: Int { 4 }

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    self.count = count
    self.batchSize = batchSize
    self.load = load
  }

  func element(at position: Int) -> Element {
    precondition(0..<count ~= position, "position \(position) of \(count) fetched elements")
    let number = position / batchSize
    if let index = recent.lastIndex(where: { $0.number == number }) {
      if index != recent.count - 1 { recent.append(recent.remove(at: index)) }
    } else {
      let start = number * batchSize
      let elements = load(start..<min(start + batchSize, count))
      if recent.count == FetchBatches.kept { recent.removeFirst() }
      recent.append((number, elements))
    }
    return recent[recent.count - 1].elements[position % batchSize]
  }
}
