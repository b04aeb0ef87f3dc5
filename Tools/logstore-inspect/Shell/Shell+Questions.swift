import LogEngine
import Terminal

/// Questions about rows.
extension Shell {
  /// Answers a question.
  func answer(_ line: String) throws {
    if try executeBareWord(line) { return }
    let question = try Question(line)
    let start = ContinuousClock.now
    try look(at: question.commit)
    switch question.kind {
    case .count: try count(question, since: start)
    case .rows: try show(question, since: start)
    }
    try store.finish()
  }

  private func show(_ question: Question, since start: ContinuousClock.Instant) throws {
    var text = question.text
    // A row more than is shown says whether there are more.
    let room =
      text.limit == nil ? settings.limit.rowCount(height: console.screen.height) : nil
    if let room { text.limit = room == .max ? room : room + 1 }
    let query = try RowQuery(text, of: try table(of: question), in: store)
    let opened = ContinuousClock.now
    var run = QueryRun(query, in: store)
    var printer = ResultPrinter(
      query,
      console,
      settings.mode.format,
      settings.mode.layout,
      header: settings.header
    )
    var hasMore = false
    do {
      try run.run { _, cells in
        hasMore = printer.rowCount == room ?? .max
        if !hasMore { printer.print(cells) }
      }
    } catch is Interruption {
      printer.end()
      throw Interruption()
    }
    printer.end(hasMore ? "and more: `.limit off` or a limit in the question shows them" : nil)
    explain(run, of: query, question, from: start, opened)
  }

  private func count(_ question: Question, since start: ContinuousClock.Instant) throws {
    var listing = Listing([
      .init(title: "entity", name: "entity"),
      .init(title: "rows", name: "rows", alignment: .right),
    ])
    let tables = question.entity == nil ? store.tables : [try table(of: question)]
    var explanation = {}
    for table in tables {
      let query = try RowQuery(question.text, of: table, in: store)
      let opened = ContinuousClock.now
      var run = QueryRun(query, in: store)
      listing.append([.text(table.name), .count(try run.count())])
      let answered = run
      explanation = { self.explain(answered, of: query, question, from: start, opened) }
    }
    print(listing)
    if question.entity != nil { explanation() }
  }

  /// Prints a list as results are printed now.
  func print(_ listing: Listing) {
    switch settings.mode {
    case .table, .line: console.print(listing.table())
    case .csv, .json, .ndjson: listing.printItems(to: console, settings.mode.format)
    }
  }

  private func explain(
    _ run: QueryRun,
    of query: RowQuery,
    _ question: Question,
    from start: ContinuousClock.Instant,
    _ opened: ContinuousClock.Instant
  ) {
    guard settings.explains || question.isExplained else { return }
    console.notice(
      run.explanation(
        of: query,
        opening: start.duration(to: opened),
        answering: opened.duration(to: .now)
      )
    )
  }

  /// The entity of a question, also if it is written in another case.
  private func table(of question: Question) throws -> TableDefinition {
    let name = question.entity ?? ""
    if store.catalogue.table(named: name) == nil {
      let similar = store.tables.filter { $0.name.lowercased() == name.lowercased() }
      if similar.count == 1 { return similar[0] }
    }
    return try store.table(named: name)
  }

  /// Takes a command for what it is that is typed without its point, as `quit` is, if nothing else is called so.
  ///
  /// - Returns: Whether it was one.
  private func executeBareWord(_ line: String) throws -> Bool {
    let words = line.split { $0.isWhitespace || $0 == ";" }
    guard words.count == 1, let command = DotCommand(rawValue: words[0].lowercased()),
      [.exit, .help, .quit].contains(command),
      !store.tables.contains(where: { $0.name.lowercased() == command.rawValue })
    else { return false }
    try execute("." + command.rawValue)
    return true
  }
}
