import LogEngineTestSupport
import Testing

/// A slice of what `Tools/crashtest --only knobs` does at length.
@Suite struct `Stores with different knobs` {
  @Test(arguments: 0..<10 as Range<UInt64>)
  func `give the same answers`(block: UInt64) {
    for seed in (block * 20 + 1)...(block * 20 + 20) {
      let result = KnobCampaign.run(seed: seed, storeCount: 2, stepCount: 24)
      #expect(result.violations == [], "seed \(seed)")
    }
  }
}
