import Foundation

/// The sort keys of many rows or models, column by column, and the resulting order.
struct SortKeys {
  private(set) var columns: [SortColumn]

  init(_ columns: [SortColumn]) { self.columns = columns }

  var count: Int { columns.first?.count ?? 0 }

  /// Adds a value of one column; every row adds one to each.
  mutating func append(_ value: QueryValue, toColumn column: Int) { columns[column].append(value) }

  /// Removes the row that was added last.
  mutating func removeLast() {
    for column in columns.indices { columns[column].removeLast() }
  }

  /// Whether a row whose first key is `value` comes after another in any case.
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

  /// Whether a row precedes another; of rows with equal keys, neither does.
  func precedes(_ lhs: Int, _ rhs: Int) -> Bool { compare(lhs, rhs, from: 0) < 0 }

  private func compare(_ lhs: Int, _ rhs: Int, from first: Int) -> Int {
    for column in columns[first...] {
      let order = column.compare(lhs, rhs)
      if order != 0 { return order }
    }
    return 0
  }

  /// The rows in order; those with equal keys keep their order.
  func sorted() -> [Int] {
    var rows = Array(0..<count)
    if !columns.isEmpty { sort(&rows, rows.indices, by: 0) }
    return rows
  }

  /// Sorts rows that are equal in the columns before one: by numbers, if these are decisive.
  private func sort(_ rows: inout [Int], _ range: Range<Int>, by column: Int) {
    if range.count < 2 { return }
    let isShort = range.count <= 32
    guard column < columns.count, !isShort || column == 0, columns[column].hasPrefix else {
      return compareSort(&rows, range, by: column)
    }
    var decides = false
    let prefixes = columns[column].prefixes(of: rows[range], &decides)
    var keys = zip(prefixes, rows[range]).map { (prefix: $0, row: $1) }
    keys.sort { $0.prefix != $1.prefix ? $0.prefix < $1.prefix : $0.row < $1.row }
    for (place, key) in zip(range, keys) { rows[place] = key.row }
    let next = decides ? column + 1 : column
    var start = 0
    for end in 1...keys.count where end == keys.count || keys[end].prefix != keys[start].prefix {
      if end - start > 1, next < columns.count {
        let run = (range.lowerBound + start)..<(range.lowerBound + end)
        if next > column {
          sort(&rows, run, by: next)
        } else {
          compareSort(&rows, run, by: column)
        }
      }
      start = end
    }
  }

  /// Sorts rows that are equal in the columns before one, value by value.
  private func compareSort(_ rows: inout [Int], _ range: Range<Int>, by column: Int) {
    rows[range].sort { lhs, rhs in
      let order = compare(lhs, rhs, from: column)
      return order != 0 ? order < 0 : lhs < rhs
    }
  }
}
