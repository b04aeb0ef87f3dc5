import ArgumentParser
import Foundation
import LogEngineTestSupport

@main
struct BitFlipper: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flipbits",
    abstract: "Turns over every bit of every file of a small store, one at a time, and reads it.",
    discussion: """
      A flip is detected if opening or reading throws an error, harmless if all rows are what they \
      were, and wrong otherwise. The last line sums up; the exit code is not zero if a flip was wrong.
      """
  )

  @Option(help: "What the store is made from.")
  var seed: UInt64 = 1

  @Option(help: "How many steps the workload has that makes the store.")
  var steps = 16

  @Option(help: "How many flips are tried at once.")
  var workers = ProcessInfo.processInfo.activeProcessorCount

  @Option(help: "Try one bit of so many.")
  var stride = 1

  func validate() throws {
    for (name, value) in [("steps", steps), ("workers", workers), ("stride", stride)] {
      guard value >= 1 else {
        throw ValidationError("--\(name) must be at least 1, and is \(value).")
      }
    }
  }

  func run() async throws {
    let store = try FlippedStore(seed: seed, stepCount: steps)
    let progress = Progress(total: store.bitCount / stride)
    var matrix = FlipMatrix()
    await withTaskGroup(of: FlipMatrix.self) { group in
      for worker in 0..<workers {
        group.addTask { [workers, stride] in
          store.flips(from: worker * stride, by: workers * stride, progress)
        }
      }
      for await part in group { matrix.merge(part) }
    }
    progress.end()
    print(matrix.table)
    for problem in matrix.problems.prefix(20) { print("wrong: \(problem)") }
    let sum = matrix.sum
    print(
      "\(sum.flips) flips, \(sum.detected) detected, \(sum.harmless) harmless, \(sum.wrong) wrong"
    )
    if sum.wrong > 0 { throw ExitCode.failure }
  }
}
