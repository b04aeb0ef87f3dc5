import LogEngineTestSupport
import Testing

/// A slice of what `Tools/crashtest` does at length.
@Suite struct `A store that was harmed` {
  @Test(arguments: Thoroughness.seeds(3))
  func `by a power cut holds exactly what it promised`(seed: UInt64) {
    let result = PowerCutCampaign.run(seed: seed, stepCount: 12)
    #expect(result.violations == [])
    #expect(result.states.count > 100)
  }

  @Test(arguments: Thoroughness.seeds(3))
  func `by calls that fail refuses to save, goes on reading and can be opened again`(seed: UInt64) {
    let result = ErrorCampaign.run(seed: seed, stepCount: 12, faultCount: 6)
    #expect(result.violations == [])
    #expect(result.states.count > 10)
  }

  @Test(arguments: Thoroughness.seeds(3))
  func `by a full device loses nothing and saves again once there is room`(seed: UInt64) {
    let result = SpaceCampaign.run(seed: seed, stepCount: 30)
    #expect(result.violations == [])
  }

  @Test(arguments: Thoroughness.seeds(3))
  func `by rot gives the right data or an error`(seed: UInt64) {
    let result = RotCampaign.run(seed: seed, stepCount: 12, damageCount: 60)
    #expect(result.violations == [])
    #expect(result.states.count > 30)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func `by one who makes the checksums right again does not trap`(seed: UInt64) {
    let result = ForgeryCampaign.run(seed: seed, stepCount: 10, forgeryCount: 25)
    #expect(result.violations == [])
    #expect(result.states.count > 10)
  }

  @Test(arguments: [Lies.directorySync, .fileSync])
  func `by a disk that lies is found out`(lies: Lies) {
    let result = PowerCutCampaign.run(seed: 1, stepCount: 12, lies: lies)
    #expect(result.violations != [])
  }
}
