import Terminal

/// Lines that somebody types, as a test has it: with prompts, a history, completion and Ctrl-C.
final class TypedLines: LineSource {
  private var entries: [LineEntry]
  private(set) var prompts: [String] = []
  private(set) var history = LineHistory()
  private(set) var isInterrupted = false
  var size: (columns: Int, rows: Int)?
  /// Called before each line is handed over, with its number and what completes it.
  var beforeLine: (Int, Completion.Source) -> Void = { _, _ in }
  /// Behind which lines Ctrl-C is pressed while they are answered.
  var interruptedLines: Set<Int> = []

  init(_ entries: [LineEntry]) { self.entries = entries.reversed() }

  convenience init(_ lines: String...) { self.init(lines.map(LineEntry.line)) }

  var isInteractive: Bool { true }

  func next(_ prompt: String, completing complete: @escaping Completion.Source) -> LineEntry {
    prompts.append(prompt)
    beforeLine(prompts.count, complete)
    return entries.popLast() ?? .end
  }

  func remember(_ line: String) { history.add(line) }

  func clearInterruption() { isInterrupted = interruptedLines.contains(prompts.count) }
}
