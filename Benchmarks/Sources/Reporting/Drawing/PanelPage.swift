/// A picture of several panels, a title above them and small print below.
struct PanelPage {
  /// A part of a page: of its own height, and of a given width.
  struct Panel {
    let height: Double
    let draw: (inout Drawing, Frame) -> Void
  }

  /// The place of a panel.
  struct Frame {
    let x: Double
    let y: Double
    let width: Double
  }

  var title: String
  var panels: [Panel]
  /// The settings of the entrants, the machine, the command: one paragraph each.
  var smallPrint: [String]
  var columns = 2

  private static let width = 980.0
  private static let margin = 24.0
  private static let gap = 28.0
  private static let lineHeight = 15.0
  /// The width of a character in 11 pixels of a usual sans-serif, rather too much than too little.
  private static let characterWidth = 6.0

  /// Draws all of it.
  ///
  /// - Returns: The SVG file.
  func svg() -> String {
    let rows = stride(from: 0, to: panels.count, by: columns).map {
      Array(panels[$0..<min($0 + columns, panels.count)])
    }
    let heights = rows.map { $0.map(\.height).max() ?? 0 }
    let top = 52.0
    let body = heights.reduce(0) { $0 + $1 + Self.gap }
    let lines = smallPrint.flatMap(Self.wrap)
    let height = top + body + Double(lines.count) * Self.lineHeight + Self.margin
    var drawing = Drawing(width: Self.width, height: height)
    drawing.text(title, Self.margin, 32, class: "title")
    let panelWidth =
      (Self.width - 2 * Self.margin - Double(columns - 1) * Self.gap) / Double(columns)
    var y = top
    for (row, height) in zip(rows, heights) {
      for (column, panel) in row.enumerated() {
        let x = Self.margin + Double(column) * (panelWidth + Self.gap)
        panel.draw(&drawing, Frame(x: x, y: y, width: panelWidth))
      }
      y += height + Self.gap
    }
    for (index, line) in lines.enumerated() {
      drawing.text(line, Self.margin, y + Double(index) * Self.lineHeight, class: "small")
    }
    return drawing.svg(title: title, description: smallPrint.joined(separator: " "))
  }

  /// Breaks a paragraph between words so that it fits the page.
  static func wrap(_ paragraph: String) -> [String] {
    let most = Int((width - 2 * margin) / characterWidth)
    var lines: [String] = []
    for word in paragraph.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= most {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(lines.isEmpty ? String(word) : "    " + word)
      }
    }
    return lines
  }
}
