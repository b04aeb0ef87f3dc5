import Terminal

/// A terminal as far as a line editor needs one: characters in rows that break at the edge, and a cursor.
struct ScreenDouble {
  let width: Int
  /// The cells of each row; a wide character is followed by an empty cell.
  private(set) var rows: [[String]] = [[]]
  private(set) var row = 0
  private(set) var column = 0
  private(set) var bellCount = 0
  /// Sequences that this terminal does not know.
  private(set) var unknown: [String] = []

  init(width: Int) { self.width = width }

  mutating func write(_ text: String) {
    var characters = Array(text)[...]
    while let character = characters.popFirst() {
      switch character {
      case "\u{1B}": sequence(&characters)
      case "\u{7}": bellCount += 1
      case "\r": column = 0
      case "\n": newRow()
      case "\r\n":
        column = 0
        newRow()
      default: put(character)
      }
    }
  }

  /// What is on the screen, one row after the other without the breaks at the edge.
  var text: String { rows.map { $0.joined() }.joined() }

  /// What is before the cursor.
  var textBeforeCursor: String {
    rows[..<row].map { $0.joined() }.joined() + rows[row].prefix(column).joined()
  }

  private mutating func newRow() {
    row += 1
    if row == rows.count { rows.append([]) }
  }

  private mutating func put(_ character: Character) {
    let columns = character.displayWidth
    if column + columns > width {
      column = 0
      newRow()
    }
    // It changes what is before it, and takes no room.
    if columns == 0 { return }
    while rows[row].count < column + columns { rows[row].append(" ") }
    rows[row][column] = String(character)
    if columns == 2 { rows[row][column + 1] = "" }
    column += columns
  }

  private mutating func sequence(_ characters: inout ArraySlice<Character>) {
    guard characters.popFirst() == "[" else {
      unknown.append("ESC")
      return
    }
    var digits = ""
    while characters.first?.isNumber ?? false { digits.append(characters.removeFirst()) }
    let count = Int(digits) ?? 1
    switch characters.popFirst() {
    case "A": row = max(row - count, 0)
    case "C": column = min(column + count, width - 1)
    case "J" where digits == "2": rows = Array(repeating: [], count: rows.count)
    case "J":
      rows[row] = Array(rows[row].prefix(column))
      rows.removeLast(rows.count - row - 1)
    case "H": (row, column) = (0, 0)
    case let final: unknown.append(digits + (final.map { String($0) } ?? ""))
    }
  }
}
