import Foundation
import LogEngineTestSupport
import Synchronization

/// The outcomes of the flips, by kind of file.
struct FlipMatrix: Sendable {
  struct Row: Sendable {
    var detected = 0
    var harmless = 0
    var wrong = 0
    var flips: Int { detected + harmless + wrong }
  }

  private var rows: [FileKind: Row] = [:]
  private(set) var problems: [String] = []

  mutating func count(_ outcome: RotTrial.Outcome, in kind: FileKind, place: String) {
    switch outcome {
    case .detected: rows[kind, default: Row()].detected += 1
    case .harmless: rows[kind, default: Row()].harmless += 1
    case .wrong(let problem):
      rows[kind, default: Row()].wrong += 1
      problems.append("\(place): \(problem)")
    }
  }

  mutating func merge(_ other: FlipMatrix) {
    for (kind, row) in other.rows { add(row, to: kind) }
    problems += other.problems
  }

  private mutating func add(_ row: Row, to kind: FileKind) {
    rows[kind, default: Row()].detected += row.detected
    rows[kind, default: Row()].harmless += row.harmless
    rows[kind, default: Row()].wrong += row.wrong
  }

  var sum: Row {
    rows.values.reduce(into: Row()) { sum, row in
      sum.detected += row.detected
      sum.harmless += row.harmless
      sum.wrong += row.wrong
    }
  }

  /// One line for each kind of file.
  var table: String {
    let lines = FileKind.allCases.compactMap { kind in
      rows[kind].map {
        line([kind.rawValue, "\($0.flips)", "\($0.detected)", "\($0.harmless)", "\($0.wrong)"])
      }
    }
    return ([line(["file", "flips", "detected", "harmless", "wrong"])] + lines)
      .joined(separator: "\n")
  }

  private func line(_ cells: [String]) -> String {
    cells.enumerated().map { index, cell in
      let space = String(repeating: " ", count: max(0, 12 - cell.count))
      return index == 0 ? cell + space : space + cell
    }.joined()
  }
}

/// The progress of the work, on a terminal.
final class Progress: Sendable {
  private let total: Int
  private let done = Atomic<Int>(0)
  private let isTerminal = isatty(STDERR_FILENO) == 1

  init(total: Int) { self.total = total }

  func advance() {
    let count = done.add(1, ordering: .relaxed).newValue
    if isTerminal, count % 1000 == 0 { show("\r\(count) of \(total) bits") }
  }

  func end() {
    if isTerminal { show("\r\u{1B}[K") }
  }

  private func show(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
