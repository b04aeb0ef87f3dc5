/// A page in the making.
struct HTML {
  private(set) var text = ""

  /// Appends markup as it is.
  mutating func raw(_ markup: String) {
    text += markup
    text += "\n"
  }

  /// Appends a table: a name in the first column, figures in the others.
  ///
  /// Each figure bears its column's title, which a narrow page shows above it.
  mutating func table(_ titles: [String], _ rows: [[String]]) {
    func style(_ index: Int) -> String { index == 0 ? "" : " class=\"figure\"" }
    raw("<table><thead><tr>")
    for (index, title) in titles.enumerated() {
      raw("<th\(style(index))>\(HTML.escaped(title))</th>")
    }
    raw("</tr></thead><tbody>")
    for row in rows {
      raw("<tr>")
      for (index, (title, cell)) in zip(titles, row).enumerated() {
        let label = " data-label=\"\(HTML.escaped(title))\""
        raw("<td\(style(index))\(label)>\(HTML.escaped(cell))</td>")
      }
      raw("</tr>")
    }
    raw("</tbody></table>")
  }

  /// Text as it may be between tags and in attributes.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      // Not allowed in a page, escaped or not.
      case "\0"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{7F}"..."\u{9F}": escaped += "�"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
