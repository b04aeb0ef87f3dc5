/// The result of a fetch in batches, or an observer's results: a list that costs little until it is read.
///
/// The elements and their order are fixed. A fetch in batches keeps eight bytes and an
/// identifier for each, and loads the elements on demand: walking a million models needs memory for
/// a few batches of them. An observer's results are already loaded; the collection never changes
/// after it was read, whatever the observer shows later.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  public typealias Index = Int

  let source: FetchResultsSource<Element>

  init(_ source: FetchResultsSource<Element>) { self.source = source }

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    self.init(FetchBatches(count: count, batchSize: batchSize, load: load))
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { source.count }

  /// The element at a position, loaded with its batch if it is not in memory.
  ///
  /// - Complexity: O(1) in a walk, plus one fetch per batch; O(log *n*) elsewhere in an observer's results.
  public subscript(position: Int) -> Element { source.element(at: position) }
}

/// The source of a collection's elements.
class FetchResultsSource<Element> {
  let count: Int

  init(count: Int) { self.count = count }

  func element(at position: Int) -> Element {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

/// The batches in memory: the last few that were used.
private final class FetchBatches<Element>: FetchResultsSource<Element> {
  private let batchSize: Int
  private let load: (Range<Int>) -> [Element]
  /// The loaded batches, the last used one at the end.
  private var recent: [(number: Int, elements: [Element])] = []
  private static var kept: Int { 4 }

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    self.batchSize = batchSize
    self.load = load
    super.init(count: count)
  }

  override func element(at position: Int) -> Element {
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
