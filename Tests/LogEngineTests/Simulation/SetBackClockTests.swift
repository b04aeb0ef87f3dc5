import Foundation
import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine

@Suite struct `A clock that is set back by an hour` {
  /// The simulated time of day jumps back by an hour now and then, by itself.
  @Test func `holds nothing back that waits for an interval`() throws {
    let synchronized = DispatchSemaphore(value: 0)
    let fileSystem = SimulatedFileSystem(
      seed: 7,
      observer: { call, _ in
        if call.operation == .synchronize && call.path.hasSuffix(".seg") { synchronized.signal() }
      }
    )
    var options = EngineOptions()
    options.durability = .relaxed(interval: .milliseconds(20))
    options.reads = .copied
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    for number in 0..<20 {
      try engine.apply([.addTable(name: "table \(number)")])
      let end = engine.state.log.writtenEnd.load(ordering: .relaxed)
      let start = ContinuousClock.now
      // A call is seen when it begins: what it comes to shows a little later.
      while engine.state.log.durableEnd.load(ordering: .relaxed) < end {
        _ = synchronized.wait(timeout: .now() + .milliseconds(20))
        guard ContinuousClock.now - start < .seconds(300) else {
          Issue.record("commit \(number) was not synchronized")
          return
        }
      }
    }
    try engine.close()
  }
}
