/// Opens, closes, publishes, trims, migrates, shares and compacts a store, in every order of four steps.
///
/// After each step the store must open as the step left it, as a power cut leaves it then, and as one left it at some
/// moment of the step; hold every save that was acknowledged, and nothing else; and be found sound. The lengths of the
/// logs are mostly such that the last page is nearly full.
///
/// A seed is a cell: ``orderCount`` seeds in a row are all orders, and the next as many the same with logs of other
/// lengths and other power cuts.
package enum LifecycleCampaign {
  /// What is done to a store; it is opened first if it is not.
  package enum Step: String, Sendable, CaseIterable {
    case save, checkpoint, compact, trim, migrate, discardMigration, follow, backUp, rest, close
    /// The process ends without closing the store.
    case kill
    case cutPower
  }

  package static let depth = 4
  package static let orderCount: UInt64 = {
    (0..<depth).reduce(1) { count, _ in count * UInt64(Step.allCases.count) }
  }()

  /// The steps of a cell.
  package static func steps(of seed: UInt64) -> [Step] {
    let count = UInt64(Step.allCases.count)
    var rest = seed % orderCount
    return (0..<depth).map { _ in
      defer { rest /= count }
      return Step.allCases[Int(rest % count)]
    }
  }

  package static func run(seed: UInt64) -> CampaignResult {
    var result = CampaignResult()
    let steps = steps(of: seed)
    var done: [String] = []
    do {
      let run = try LifecycleRun(seed: seed)
      for step in steps {
        done.append(step.rawValue)
        try run.take(step)
        try run.check(&result)
      }
      done.append("end")
      try run.end(&result)
    } catch {
      result.report(.lifecycle, seed, done.joined(separator: ", "), error)
    }
    return result
  }
}
