/// Rows of text under a header, in columns as wide as their widest cell.
///
/// Columns that hold figures are aligned to the right, so that magnitudes can be compared at a
/// glance. Lines carry no trailing spaces.
public struct TextTable: Sendable {
  /// On which side of its column a cell stands.
  public enum Alignment: Sendable { case left, right }

  /// What a column is called and where its cells stand.
  public struct Column: Sendable {
    public var title: String
    public var alignment: Alignment

    public init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  public private(set) var rows: [[String]] = []
  private let columns: [Column]

  public init(_ columns: [Column]) { self.columns = columns }

  /// Appends a row; cells it lacks are empty.
  public mutating func append(_ cells: [String]) {
    precondition(cells.count <= columns.count, "\(cells.count) cells, \(columns.count) columns")
    rows.append(cells + Array(repeating: "", count: columns.count - cells.count))
  }

  /// The lines of the table; without any title, the header is left out.
  public var lines: [String] {
    let header = columns.map(\.title)
    let all = header.allSatisfy(\.isEmpty) ? rows : [header] + rows
    let widths = columns.indices.map { column in
      all.map { $0[column].count }.max() ?? 0
    }
    return all.map { cells in
      var line = ""
      for (column, cell) in cells.enumerated() {
        if column > 0 { line += "  " }
        switch columns[column].alignment {
        case .left: line += cell.padding(to: widths[column])
        case .right: line += String(repeating: " ", count: widths[column] - cell.count) + cell
        }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension String {
  /// The string with spaces behind it, up to a width; a longer one is returned as it is.
  public func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
