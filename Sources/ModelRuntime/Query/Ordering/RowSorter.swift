package import RowFormat

/// Collects the sort keys of rows as they are scanned, and determines the order of the rows.
///
/// With a limit it discards, from time to time, the rows that can no longer be among the first, so that
/// the first ten of a million rows take the memory of some dozens.
package struct RowSorter {
  private let ordering: RowOrdering
  private let resolver: any RowResolver
  private let limit: Int
  private let scope = QueryScope()
  private var known: [(descriptor: ModelDescriptor, readers: [RowReader<QueryValue>])] = []
  /// The class of the last row, and the readers of its keys.
  private var current: ModelDescriptor?
  private var readers: [RowReader<QueryValue>] = []
  private var keys: SortKeys
  /// The caller's numbers of the rows whose keys are kept.
  private var rows: [Int] = []
  private var accepted = 0
  /// Whether the first `limit` keys are sorted, so that the last of them is the threshold for new ones.
  private var hasBar = false

  /// Makes a sorter.
  ///
  /// - Parameters:
  ///   - ordering: The sort.
  ///   - limit: The number of first rows wanted, including those that an offset will skip; `nil` for all.
  ///   - resolver: Answers about other rows.
  package init(_ ordering: RowOrdering, limit: Int?, resolver: any RowResolver) {
    self.ordering = ordering
    self.resolver = resolver
    self.limit = limit ?? .max
    keys = SortKeys(ordering.makeColumns())
  }

  /// Takes the keys of the next row.
  ///
  /// - Parameters:
  ///   - row: The row's bytes, in the layout of the descriptor.
  ///   - reference: The row's name.
  ///   - descriptor: The row's class.
  /// - Returns: Whether the row may be among the first; the caller then keeps it, and numbers the rows it
  ///   keeps from 0.
  /// - Throws: An error of the resolver.
  package mutating func append(
    _ row: RawSpan,
    _ reference: RowReference,
    of descriptor: ModelDescriptor
  ) throws -> Bool {
    if current !== descriptor { findReaders(for: descriptor) }
    guard let readFirst = readers.first else { return accept() }
    let first = try readFirst(row, reference, scope)
    // Equal keys keep their order, so a row that equals the last wanted one is too late.
    if hasBar && keys.isBehind(first, limit - 1) { return false }
    keys.append(first, toColumn: 0)
    for column in 1..<readers.count {
      keys.append(try readers[column](row, reference, scope), toColumn: column)
    }
    let last = keys.count - 1
    if hasBar && !keys.precedes(last, limit - 1) {
      keys.removeLast()
      return false
    }
    defer { if limit <= last / 2 { cut() } }
    return accept()
  }

  private mutating func accept() -> Bool {
    rows.append(accepted)
    accepted += 1
    return true
  }

  /// The numbers of the wanted rows, in order.
  package func sorted() -> [Int] {
    if ordering.keys.isEmpty { return Array(rows.prefix(limit)) }
    return keys.sorted().prefix(limit).map { rows[$0] }
  }

  private mutating func cut() {
    let first = Array(keys.sorted().prefix(limit))
    keys.keep(first)
    rows = first.map { rows[$0] }
    hasBar = limit > 0
  }

  private mutating func findReaders(for descriptor: ModelDescriptor) {
    current = descriptor
    if let found = known.first(where: { $0.descriptor === descriptor }) {
      readers = found.readers
    } else {
      readers = ordering.makeReaders(for: descriptor, resolver)
      known.append((descriptor, readers))
    }
  }
}
