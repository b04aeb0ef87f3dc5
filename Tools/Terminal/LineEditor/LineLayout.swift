/// The places of a line's characters on a terminal that breaks lines at its edge.
struct LineLayout: Hashable {
  struct Place: Hashable {
    var row = 0
    var column = 0
  }

  /// The place of the cursor.
  let cursor: Place
  /// The place of a character after the last.
  let end: Place
  /// Whether the last row is full, so that ``end`` is in a row that is empty yet.
  let endsFull: Bool

  /// Lays characters out.
  ///
  /// - Parameters:
  ///   - characters: The prompt and the line.
  ///   - cursorIndex: The character that the cursor is before.
  ///   - width: The number of columns of the terminal.
  init(_ characters: some Collection<Character>, cursor cursorIndex: Int, width: Int) {
    let width = max(width, 2)
    var (place, cursor) = (Place(), Place())
    for (index, character) in characters.enumerated() {
      let columns = character.displayWidth
      // A wide character that does not fit the row begins the next.
      if place.column + columns > width { place = Place(row: place.row + 1, column: 0) }
      if index == cursorIndex { cursor = place }
      place.column += columns
    }
    endsFull = place.column >= width
    if endsFull { place = Place(row: place.row + 1, column: 0) }
    end = place
    self.cursor = cursorIndex >= characters.count ? place : cursor
  }
}
