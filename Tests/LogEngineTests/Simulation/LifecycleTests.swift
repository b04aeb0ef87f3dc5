import LogEngineTestSupport
import Testing

@Suite struct `A store in the course of its life` {
  /// All orders are run by `Tools/crashtest --only lifecycle`; here, a share of them.
  @Test func `opens after every step, and holds what was saved`() {
    let pairs = UInt64(
      LifecycleCampaign.Step.allCases.count * LifecycleCampaign.Step.allCases.count
    )
    for pair in 0..<pairs where pair % 3 == 0 {
      // The pair comes first; what follows it is another pair.
      let seed = pair + pairs * (pair &* 37 % pairs)
      let result = LifecycleCampaign.run(seed: seed)
      #expect(result.violations.isEmpty, "seed \(seed): \(result.violations)")
    }
  }

  @Test func `takes its steps in every order`() {
    let orders = Set((0..<LifecycleCampaign.orderCount).map(LifecycleCampaign.steps(of:)))
    #expect(orders.count == Int(LifecycleCampaign.orderCount))
  }
}
