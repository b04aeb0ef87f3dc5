import ArgumentParser
import Foundation
import Terminal

/// Compares what our modules declare with what SwiftData declares.
struct APICoverage: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-coverage",
    abstract: "Compares the public symbols of our modules with SwiftData's declarations.",
    discussion: """
      Reads a ledger of declarations and the compiler's symbol graphs. A declaration is present if we \
      declare the same one, as far as a caller can tell; absent or later if the ledger says so, with \
      the reason; and missing otherwise. The last line sums up; the exit code is not zero if anything \
      is missing, or if the ledger calls something absent or later that is there.
      """
  )

  @Option(help: ArgumentHelp("The ledger.", valueName: "file"))
  var ledger: String

  @Flag(help: "Print every declaration, not only those that are not present.")
  var all = false

  @Argument(help: "The modules' symbol graphs.")
  var graphs: [String]

  func run() throws {
    let ledger = try Ledger(parsing: text(of: ledger))
    let graphs = try graphs.map { try JSONDecoder().decode(SymbolGraph.self, from: data(of: $0)) }
    let report = CoverageReport(comparing: ledger, with: PublicSymbols(graphs))
    print(report.text(all: all))
    if report.hasProblems {
      throw ToolError("the API is not what the ledger says", status: .checkFailed)
    }
  }

  private func data(of path: String) throws -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw ToolError("cannot read a file", place: path, found: error.localizedDescription)
    }
  }

  private func text(of path: String) throws -> String {
    String(decoding: try data(of: path), as: UTF8.self)
  }
}
