import Foundation
import LogStore
import Testing

/// What an app calls its own types must not get in the way of ours: each of ours has a longer name.
private enum Durability { case mine }
private struct Compaction {}

@Suite struct `Names that an app uses, too` {
  @Test func `can be told apart`() {
    let url = FileManager.default.temporaryDirectory
    let durability = LogStore.Durability.relaxed(interval: .seconds(2))
    var configuration = LogStoreConfiguration(url: url, durability: durability)
    configuration.compaction = LogStore.Compaction(.onDemand, historyByteCount: 0)
    #expect(configuration.durability == durability)
    let timing = LogStoreConfiguration.Compaction.Timing.onDemand
    #expect(configuration.compaction.timing == timing)
    _ = (Durability.mine, Compaction())
  }
}
