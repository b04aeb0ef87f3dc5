import Testing

@testable import LogEngine

@Suite struct `A thread that watches for turns of other processes` {
  @Test(
    arguments: [(-1, 3000), (0, 3000), (150, 3000), (200, 4000), (1500, 30_000), (.max, 30_000)]
      as [(Int, Int)]
  )
  func `rests in proportion to its last look`(look: Int, pause: Int) {
    #expect(TurnWatch.pause(after: look) == pause)
  }
}
