import Foundation

/// The sort keys of many rows or models, column by column, and the order they make.
struct SortKeys {
  private(set) var columns: [SortColumn]

  init(_ columns: [SortColumn]) { self.columns = columns }

  var count: Int { columns.first?.count ?? 0 }

  /// Adds a value of one column; every row adds one to each.
  mutating func append(_ value: QueryValue, toColumn column: Int) { columns[column].append(value) }

  /// Forgets the row that was added last.
  mutating func removeLast() {
    for column in columns.indices { columns[column].removeLast() }
  }

  /// Whether a row whose first key is `value` comes behind another in any case.
  mutating func isBehind(_ value: QueryValue, _ row: Int) -> Bool {
    columns[0].append(value)
    defer { columns[0].removeLast() }
    let order = columns[0].compare(columns[0].count - 1, row)
    return order > 0 || order == 0 && columns.count == 1
  }

  /// Keeps some rows, in a new order.
  mutating func keep(_ rows: [Int]) {
    for column in columns.indices { columns[column].keep(rows) }
  }

  /// Whether a row comes before another; of rows with equal keys, neither does.
  func precedes(_ lhs: Int, _ rhs: Int) -> Bool { compare(lhs, rhs, from: 0) < 0 }

  private func compare(_ lhs: Int, _ rhs: Int, from first: Int) -> Int {
    for column in columns[first...] {
      let order = column.compare(lhs, rhs)
      if order != 0 { return order }
    }
    return 0
  }

  /// The rows in order; those with equal keys as they came.
  func sorted() -> [Int] {
    guard let first = columns.first, first.hasPrefix else {
      return (0..<count).sorted(by: precedes)
    }
    var rows = first.prefixes().enumerated().map { (prefix: $0.element, row: $0.offset) }
    let undecided = first.isDecidedByPrefix ? 1 : 0
    rows.sort { lhs, rhs in
      if lhs.prefix != rhs.prefix { return lhs.prefix < rhs.prefix }
      let order = compare(lhs.row, rhs.row, from: undecided)
      return order != 0 ? order < 0 : lhs.row < rhs.row
    }
    return rows.map(\.row)
  }
}
