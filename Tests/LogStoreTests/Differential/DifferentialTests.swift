import QueryDifferential
import Testing

@Suite struct `Random questions to a store` {
  @Test(arguments: UInt64(1)...10)
  func `are answered as plain Swift answers them`(seed: UInt64) throws {
    var differential = Differential()
    try differential.run(seed: seed, pieceCount: 90, questionCount: 12)
    #expect(differential.disagreements.map(\.description) == [], "seed \(seed)")
    #expect(differential.caseCount == 3 * 12 * 6)
  }

  @Test(arguments: [100, 101] as [UInt64])
  func `are answered for one state of the store while it is saved to`(seed: UInt64) throws {
    var differential = Differential()
    try differential.runBesideSaves(seed: seed, pieceCount: 300, saveCount: 12)
    #expect(differential.disagreements.map(\.description) == [], "seed \(seed)")
    #expect(differential.caseCount >= 2)
  }
}
