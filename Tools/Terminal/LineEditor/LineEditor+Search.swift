/// Searching in the history: each character narrows the search down, and the same key continues to older lines.
extension LineEditor {
  /// Performs the action of a key during a search.
  ///
  /// - Returns: Whether the search continues; otherwise the key is one for the line that was found.
  mutating func handleSearch(_ key: Key) -> Bool {
    guard var search else { return false }
    switch key {
    case .text(let scalar):
      search.text.unicodeScalars.append(scalar)
      find(&search, before: search.match.map { $0 + 1 } ?? history.lines.count)
    case .backspace:
      if !search.text.isEmpty { search.text.removeLast() }
      find(&search, before: history.lines.count)
    case .search:
      find(&search, before: search.match ?? history.lines.count)
    case .abort, .interrupt:
      buffer = search.original
      self.search = nil
      return true
    case .escape, .tab:
      take(search)
      return true
    default:
      take(search)
      return false
    }
    self.search = search
    return true
  }

  private mutating func find(_ search: inout Search, before end: Int) {
    if search.text.isEmpty {
      search.match = nil
      search.hasFailed = false
      buffer = search.original
      return
    }
    guard let match = history.lastIndex(of: search.text, before: end) else {
      search.hasFailed = true
      pending += "\u{7}"
      return
    }
    search.match = match
    search.hasFailed = false
    buffer = LineBuffer(history.lines[match])
  }

  /// Ends the search with what it found.
  private mutating func take(_ search: Search) {
    if let match = search.match {
      if historyIndex == nil { draft = search.original }
      historyIndex = match
    }
    self.search = nil
  }
}
