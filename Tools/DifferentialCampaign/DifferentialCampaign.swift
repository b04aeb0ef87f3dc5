import ArgumentParser
import Foundation
import QueryDifferential

@main
struct DifferentialCampaign: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "differential",
    abstract: "Asks stores random questions, and compares their answers with an oracle's.",
    discussion: """
      Each seed makes a store of random models, some of them unsaved, and asks it random fetches in every \
      way; a fetch is a case each way. Seeds are counted up from --seed until there were enough cases. A \
      disagreement is shrunk, and printed as Swift with its seed: to see it again, run with --seed SEED \
      --cases 1.
      """
  )

  @Option(help: "How many cases to try.")
  var cases = 1_000_000

  @Option(help: "The first seed.")
  var seed: UInt64 = 1

  @Option(help: "About how many rows a store has.")
  var rows = 120

  @Option(help: "How many questions a store is asked in each of its three states.")
  var questions = 60

  @Flag(help: "Ask each store while another thread saves.")
  var besideSaves = false

  func validate() throws {
    for (name, value) in [("cases", cases), ("rows", rows), ("questions", questions)] {
      guard value >= 1 else {
        throw ValidationError("--\(name) must be at least 1, and is \(value).")
      }
    }
  }

  func run() throws {
    var caseCount = 0
    var disagreementCount = 0
    var next = seed
    while caseCount < cases {
      var differential = Differential()
      do {
        if besideSaves {
          try differential.runBesideSaves(seed: next, pieceCount: rows, saveCount: 20)
        } else {
          try differential.run(seed: next, pieceCount: rows, questionCount: questions)
        }
      } catch {
        print("seed \(next): \(error)\n")
        disagreementCount += 1
      }
      for disagreement in differential.disagreements { print("\(disagreement)\n") }
      disagreementCount += differential.disagreements.count
      caseCount += max(differential.caseCount, 1)
      next += 1
      if isatty(STDERR_FILENO) == 1 {
        FileHandle.standardError.write(Data("\r\(caseCount) cases, seed \(next)".utf8))
      }
    }
    print("\(caseCount) cases, \(disagreementCount) disagreements")
    if disagreementCount > 0 { throw ExitCode.failure }
  }
}
