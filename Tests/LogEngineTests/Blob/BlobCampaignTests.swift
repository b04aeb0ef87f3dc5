import LogEngine
import LogEngineTestSupport
import Testing

/// A slice of what `Tools/crashtest --only blobs` does at length.
@Suite struct `A store with side files that was harmed` {
  @Test(arguments: [1, 3])
  func `by a power cut holds exactly what it promised, and no file too many`(seed: UInt64) {
    let result = BlobCampaign.runPowerCut(seed: seed, stepCount: 8)
    #expect(result.violations == [])
    #expect(result.states.count > 100)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `by calls that fail refuses or goes on, and ends with no file too many`(seed: UInt64) {
    #expect(BlobCampaign.runFault(seed: seed).violations == [])
  }

  /// The file's bytes, and its name.
  @Test(arguments: ["/tmp/blob-", "/store/blobs"])
  func `by a disk that does not synchronize side files is found out`(part: String) {
    let result = BlobCampaign.runPowerCut(seed: 1, stepCount: 8) {
      ForgetfulFileSystem($0, forgetting: part)
    }
    #expect(result.violations != [])
  }
}
