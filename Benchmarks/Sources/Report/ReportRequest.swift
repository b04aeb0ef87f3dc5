import Foundation
import Reporting

/// The request of `Benchmarks/run` for drawings and comparisons.
struct ReportRequest {
  private var options: [String: String] = [:]

  init(_ arguments: [String]) {
    var rest = arguments.dropFirst()
    while let option = rest.popFirst(), let value = rest.popFirst() { options[option] = value }
  }

  /// Writes plots and page, if there is a folder for them.
  ///
  /// - Throws: What the file system throws.
  func draw() throws {
    guard let folder = options["--out"] else { return }
    try ResultsPage(results).write(to: URL(fileURLWithPath: folder))
    try Data(circumstances.utf8).write(to: URL(fileURLWithPath: folder + "/circumstances.txt"))
  }

  /// Puts figures into the documentation, if a checkout is named.
  ///
  /// - Throws: What the file system throws.
  func publish() throws {
    guard let root = options["--publish"] else { return }
    try Publication(results).write(to: URL(fileURLWithPath: root))
  }

  private var results: Results {
    get throws {
      Results(
        try Results.measurements(in: file("--results")),
        try Results.distributions(in: file("--latencies")),
        try options["--timelines"].map { try Results.timelines(in: URL(fileURLWithPath: $0)) }
          ?? [],
        circumstances: try options["--circumstances"]
          .map { try String(contentsOfFile: $0, encoding: .utf8) } ?? circumstances
      )
    }
  }

  /// Prints the changes since another run, if one is named.
  ///
  /// - Returns: The exit status of the process: 2 if something of ours became worse, else 0.
  /// - Throws: What the file system throws.
  func compare() throws -> CInt {
    guard options["--compare"] != nil else { return 0 }
    let comparison = Comparison(
      old: try Results.measurements(in: file("--compare")),
      new: try Results.measurements(in: file("--results"))
    )
    print(comparison.text, terminator: "")
    return comparison.isWorse ? 2 : 0
  }

  private var circumstances: String {
    let date = Date().formatted(.iso8601.year().month().day())
    let fileSystem = Machine.fileSystem(of: file("--folder"))
    let toolchain = options["--toolchain"] ?? "Swift"
    return """
      \(Machine.description), \(fileSystem), load \(options["--load"] ?? "unknown") when it began; \
      \(toolchain), release; \(date); \(options["--command"] ?? "").
      """
  }

  private func file(_ option: String) -> URL {
    URL(fileURLWithPath: options[option] ?? "/dev/null")
  }
}
