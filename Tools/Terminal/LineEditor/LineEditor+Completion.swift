/// The tab key: inserts the common prefix of all candidates, and lists them if it is empty.
extension LineEditor {
  /// Limit of the number of candidates that are listed.
  private static let listLimit = 60

  mutating func completeWord() {
    let completion = complete(buffer.head)
    guard !completion.candidates.isEmpty, 0...buffer.cursor ~= completion.start else {
      pending += "\u{7}"
      return
    }
    let typed = completion.start..<buffer.cursor
    if completion.candidates.count == 1 {
      let candidate = completion.candidates[0]
      // The suffix of the word may be there already.
      let next = buffer.characters[buffer.cursor...].prefix(candidate.suffix.count)
      buffer.replace(typed, with: candidate.text)
      if String(next) == candidate.suffix {
        buffer.move(to: buffer.cursor + candidate.suffix.count)
      } else {
        buffer.insert(candidate.suffix)
      }
      return
    }
    let prefix = completion.commonPrefix
    if prefix.count > typed.count {
      buffer.replace(typed, with: prefix)
    } else {
      list(completion.candidates)
    }
  }

  /// Writes candidates below the line, in columns, and the line below them.
  private mutating func list(_ candidates: [Completion.Candidate]) {
    let cursor = buffer.cursor
    buffer.move(to: buffer.characters.count)
    draw()
    let names = candidates.prefix(Self.listLimit).map { $0.text.clipped(to: max(width - 1, 1)) }
    let column = (names.map(\.displayWidth).max() ?? 0) + 2
    let perRow = max((width + 1) / column, 1)
    let rowCount = (names.count + perRow - 1) / perRow
    for row in 0..<rowCount {
      // Downwards, as `ls` lists.
      let cells = stride(from: row, to: names.count, by: rowCount).map { names[$0] }
      let line = cells.dropLast().map { $0.padding(to: column) } + cells.suffix(1)
      pending += "\r\n" + line.joined()
    }
    let more = candidates.count - names.count
    if more > 0 { pending += "\r\n… and \(more.grouped) more" }
    pending += "\r\n"
    buffer.move(to: cursor)
    redraw()
  }
}
