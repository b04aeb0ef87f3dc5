import Floor
import Foundation
import Harness

/// The limits of the machine with the bytes of rows.
struct Limits {
  let plan: Plan

  func run(_ report: Report) throws {
    try withFolder(plan, "limits") { folder in
      let blocks = try FloorBlocks(path: folder.appending(path: "log").path)
      let rounds = plan.choose(quick: 5, full: 25)
      report.add(try RoundRobin(rounds: rounds, blocks.entrants).run())
    }
  }
}
