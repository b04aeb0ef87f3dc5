/// Rows of text under a header, in columns as wide as their widest cell.
///
/// Columns that hold figures are aligned to the right, so that magnitudes can be compared at a
/// glance. Lines carry no trailing spaces.
public struct TextTable: Sendable {
  /// The side of its column on which a cell is.
  public enum Alignment: Sendable { case left, right }

  /// Whether a column stays if there is no room for all.
  public enum Importance: Sendable { case essential, optional }

  /// The title of a column, and the alignment of its cells.
  public struct Column: Sendable {
    public var title: String
    public var alignment: Alignment
    public var importance: Importance

    public init(
      _ title: String,
      _ alignment: Alignment = .left,
      _ importance: Importance = .essential
    ) {
      self.title = title
      self.alignment = alignment
      self.importance = importance
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
  public var lines: [String] { lines(fitting: nil) }

  /// The lines of the table, in a width.
  ///
  /// If there is no room, text is cut off first, widest column first; then optional columns go,
  /// last first. Figures are never cut: a table of many may stay too wide.
  ///
  /// - Parameter width: The greatest width of a line; `nil` for any width.
  /// - Returns: The lines, the header first.
  public func lines(fitting width: Int?) -> [String] {
    let header = columns.map(\.title)
    let all = header.allSatisfy(\.isEmpty) ? rows : [header] + rows
    let (shown, widths) = fit(all, to: width ?? .max)
    return all.map { cells in
      var line = ""
      for (position, column) in shown.enumerated() {
        if position > 0 { line += "  " }
        let cell = cells[column].clipped(to: widths[column])
        switch columns[column].alignment {
        case .left: line += cell.padding(to: widths[column])
        case .right: line += cell.leftPadding(to: widths[column])
        }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// The columns to show, and the width of each.
  private func fit(_ cells: [[String]], to limit: Int) -> (shown: [Int], widths: [Int]) {
    let natural = columns.indices.map { column in
      cells.map { $0[column].displayWidth }.max() ?? 0
    }
    var shown = Array(columns.indices)
    while true {
      var widths = natural
      var excess = shown.reduce(2 * (shown.count - 1)) { $0 + natural[$1] } - limit
      while excess > 0 {
        let flexible = shown.filter {
          columns[$0].alignment == .left && widths[$0] > leastWidth($0)
        }
        guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
        widths[widest] -= 1
        excess -= 1
      }
      guard excess > 0, let gone = shown.last(where: { columns[$0].importance == .optional })
      else { return (shown, widths) }
      shown.removeAll { $0 == gone }
    }
  }

  private func leastWidth(_ column: Int) -> Int { max(columns[column].title.displayWidth, 12) }
}
