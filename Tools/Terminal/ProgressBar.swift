/// One line that says how far long work has come; silent unless the output is a terminal.
///
///     importing  [##########--------------]  41 %  11,072 of 27,004
public struct ProgressBar {
  private let label: String
  private let total: Int
  private let isShown: Bool
  private let clock = ContinuousClock()
  private var lastDrawn: ContinuousClock.Instant?

  /// Creates a bar of `total` steps.
  public init(_ label: String, total: Int, isShown: Bool) {
    self.label = label
    self.total = total
    self.isShown = isShown && total > 0
  }

  /// Draws the bar, at most twenty times a second: a terminal is slower than a store.
  public mutating func update(_ done: Int) {
    guard isShown else { return }
    let now = clock.now
    if let lastDrawn, now - lastDrawn < .milliseconds(50), done < total { return }
    lastDrawn = now
    Terminal.draw(Self.line(label, done: done, of: total))
  }

  /// Wipes the bar off the line, for what is printed next.
  public func finish() {
    if isShown { Terminal.draw("") }
  }

  static func line(_ label: String, done: Int, of total: Int) -> String {
    let width = 24
    let filled = min(width, done * width / max(total, 1))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    let percent = done * 100 / max(total, 1)
    return "\(label.padding(to: 10)) [\(bar)] \(percent) %  \(done.grouped) of \(total.grouped)"
  }
}
