import Terminal

/// A bar of pieces, as wide as there is room: its text is beside it in the page, so that it stays readable
/// however narrow the page is.
struct Bar {
  struct Piece {
    /// The name of the piece: the class that gives the colour.
    var name: String
    var amount: Int
    /// The amount in words.
    var words: String
  }

  var pieces: [Piece]
  /// The amount of a bar as wide as the page.
  var scale: Int

  /// The pieces in words, for readers who cannot see them.
  var words: String {
    pieces.filter { $0.amount > 0 }.map { "\($0.name) \($0.words)" }.joined(separator: ", ")
  }

  var markup: String {
    var markup =
      "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" "
      + "aria-label=\"\(HTML.escaped(words))\"><rect class=\"track\" width=\"1000\" height=\"10\"/>"
    var start = 0.0
    for piece in pieces where piece.amount > 0 && scale > 0 {
      let width = Double(piece.amount) / Double(scale) * 1000
      markup += "<rect class=\"\(piece.name)\" x=\"\(start.fixed(2))\" width=\"\(width.fixed(2))\" "
      markup +=
        "height=\"10\"><title>\(HTML.escaped("\(piece.name) \(piece.words)"))</title></rect>"
      start += width
    }
    return markup + "</svg>"
  }
}
