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

      With --store postgres, a store on a server and a log are asked the same: each answer must be the oracle's. \
      Tools/differential starts a server of its own if --url names none.
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

  @Option(help: "Which store to ask: log or postgres.")
  var store = StoreKind.log

  @Option(help: "A server for --store postgres; its schema \(ServerPlace.namespace) is emptied.")
  var url: String?

  func validate() throws {
    if store == .postgres {
      guard ServerPlace.isAvailable else {
        throw ValidationError(
          "This build knows no servers: run Tools/differential, which builds with the trait PostgreSQL."
        )
      }
      guard url != nil else { throw ValidationError("--store postgres needs --url.") }
      guard !besideSaves else {
        throw ValidationError("--beside-saves asks logs only.")
      }
    }
    for (name, value) in [("cases", cases), ("rows", rows), ("questions", questions)] {
      guard value >= 1 else {
        throw ValidationError("--\(name) must be at least 1, and is \(value).")
      }
    }
  }

  func run() throws {
    var questionCount = 0
    var caseCount = 0
    var disagreementCount = 0
    var next = seed
    while caseCount < cases {
      var differential = Differential()
      do {
        if besideSaves {
          try differential.runBesideSaves(seed: next, pieceCount: rows, saveCount: 20)
        } else {
          if let url {
            try differential.run(seed: next, pieceCount: rows, questionCount: questions) { _ in
              try ServerPlace(url: url)
            }
          }
          try differential.run(seed: next, pieceCount: rows, questionCount: questions)
        }
      } catch {
        print("seed \(next): \(error)\n")
        disagreementCount += 1
      }
      for disagreement in differential.disagreements { print("\(disagreement)\n") }
      disagreementCount += differential.disagreements.count
      questionCount += differential.questionCount
      caseCount += max(differential.caseCount, 1)
      next += 1
      if isatty(STDERR_FILENO) == 1 {
        try? FileHandle.standardError.write(
          contentsOf: Data("\r\(caseCount) cases, seed \(next)".utf8)
        )
      }
    }
    print("\(questionCount) questions, seeds \(seed) to \(next - 1)")
    print("\(caseCount) cases, \(disagreementCount) disagreements")
    if disagreementCount > 0 { throw ExitCode.failure }
  }
}

/// The stores that are asked.
enum StoreKind: String, CaseIterable, ExpressibleByArgument {
  case log, postgres
}
