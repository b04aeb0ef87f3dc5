import Foundation

/// Runs a group of benchmarks as its executable was told to, and ends the process with 1 if it cannot.
///
/// - Parameters:
///   - title: The heading of the report.
///   - body: The benchmarks.
public func runGroup(_ title: String, _ body: (Plan, Report) throws -> Void) {
  let plan = Plan(title: title)
  let report = Report(plan)
  do {
    try body(plan, report)
    try report.finish()
  } catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
  }
}
