import LogEngine

/// Does the same things to stores with different knobs, and compares each answer with what it should be,
/// and with what the others answered.
///
/// A crash is no part of it, and so a seed takes milliseconds: what it looks for is a compaction, a
/// retention or a size of anything that changes what is read.
package enum KnobCampaign {
  /// Runs a seed.
  ///
  /// - Parameters:
  ///   - seed: Makes the operations, and with a number for each store its knobs.
  ///   - storeCount: How many stores.
  ///   - stepCount: How many operations.
  /// - Returns: One state, which stands for all that was answered.
  package static func run(
    seed: UInt64,
    storeCount: Int = 3,
    stepCount: Int = 60
  ) -> CampaignResult {
    var result = CampaignResult()
    var transcripts: [UInt64] = []
    for store in 0..<storeCount {
      let knobs = EngineOptions.knobs(seed: seed, store: UInt64(store))
      do {
        var trial = KnobTrial(seed: seed, knobs)
        for step in 0..<stepCount {
          do {
            try trial.perform(step)
          } catch {
            throw Mismatch("step \(step): \((error as? Mismatch)?.description ?? "\(error)")")
          }
        }
        try trial.finish()
        transcripts.append(trial.transcript)
      } catch {
        result.report(.knobs, seed, "store \(store) (\(knobs.knobDescription))", error)
      }
    }
    if Set(transcripts).count > 1 {
      result.report(.knobs, seed, "all stores", Mismatch("they gave different answers"))
    }
    result.states.formUnion(transcripts)
    return result
  }
}

extension EngineOptions {
  /// Knobs by lot, from the smallest on.
  static func knobs(seed: UInt64, store: UInt64) -> EngineOptions {
    var random = SeededGenerator(seed: seed).forked(100 + store)
    var options = EngineOptions.random(using: &random)
    options.smallestSegment = 8192 << Int.random(in: 0...1, using: &random)
    options.largestSegment = options.smallestSegment << Int.random(in: 0...2, using: &random)
    options.compactOften(using: &random)
    options.compaction = random.oneIn(4) ? .onDemand : .automatic
    if random.oneIn(6) { options.history = .everything }
    return options
  }

  /// What tells these knobs from others, for a person who looks for a fault.
  fileprivate var knobDescription: String {
    "segments \(smallestSegment)-\(largestSegment), block \(packs.blockByteCount), chain "
      + "\(longestChain), step \(compactionStepByteCount), \(compaction), \(history), \(durability)"
  }
}
