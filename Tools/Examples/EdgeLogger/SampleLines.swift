import Foundation

/// Samples from lines as `kitchen,21.5` or `kitchen,21.5,2026-11-22T10:00:00Z`.
///
/// An invalid line is reported and left out.
struct SampleLines: Sequence, IteratorProtocol {
  /// The next line; `nil` at the end.
  let nextLine: () -> String?
  /// The time of lines without one.
  let now: () -> Date
  /// Gets the number of a line that is left out, counted from 1, and what is wrong with it.
  let refuse: (Int, String) -> Void
  private var number = 0

  init(
    from nextLine: @escaping () -> String?,
    now: @escaping () -> Date = { .now },
    refuse: @escaping (Int, String) -> Void
  ) {
    self.nextLine = nextLine
    self.now = now
    self.refuse = refuse
  }

  mutating func next() -> (String, Date, Double)? {
    while let line = nextLine() {
      number += 1
      if line.allSatisfy(\.isWhitespace) { continue }
      switch parse(line) {
      case .success(let sample): return sample
      case .failure(let problem): refuse(number, problem.text)
      }
    }
    return nil
  }

  private struct Problem: Error { var text: String }

  private func parse(_ line: String) -> Result<(String, Date, Double), Problem> {
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    guard 2...3 ~= fields.count, !fields[0].isEmpty else {
      return .failure(Problem(text: "expected sensor,value or sensor,value,time; found \(line)"))
    }
    guard let value = Double(fields[1]) else {
      return .failure(Problem(text: "expected a number as the value; found \(fields[1])"))
    }
    if fields.count == 2 { return .success((fields[0], now(), value)) }
    guard let time = try? Date(fields[2], strategy: .iso8601) else {
      return .failure(Problem(text: "expected a time as 2026-11-22T10:00:00Z; found \(fields[2])"))
    }
    return .success((fields[0], time, value))
  }
}
