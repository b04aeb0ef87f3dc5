import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// The system reports a failed write-back once.
///
/// The background synchronizes the log without the lock of those who lead the writing, and takes it afterwards
/// to say that writing has ended: who has it meanwhile must not take its own synchronization, which the system
/// says is fine, for proof that everything is on disk.
@Suite struct `A synchronization that fails in the background` {
  @Test(.timeLimit(.minutes(30)))
  func `fails the next synchronization, before the background reports it`() throws {
    let race = Race()
    let simulated = SimulatedFileSystem(seed: 5)
    let hooked = HookedFileSystem(simulated, didFail: { _ in race.didFail() }) { race.will($0) }
    let store = try SimulatedStore(
      simulated,
      hooked: hooked,
      durability: .relaxed(interval: .seconds(3600))
    )
    try store.engine.synchronize()
    try store.insert(1)

    let calls = simulated.callCount(of: .synchronize)
    simulated.setFaults(FaultPlan([Fault(.synchronize, number: calls + 1)]))
    race.arm()
    let engine = store.engine
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      engine.performBackgroundWork()
      ended.signal()
    }
    race.backgroundSynchronizes.wait()
    let error = #expect(throws: StorageError.self) { try engine.close() }
    ended.wait()
    guard case .poisoned = error else {
      Issue.record("closing threw \(String(describing: error)), not that writing has ended")
      return
    }
  }

  @Test func `leaves the log as it is: closing writes nothing, and opening recovers`() throws {
    let store = try SimulatedStore(SimulatedFileSystem(seed: 6))
    try store.insert(3)
    let calls = store.fileSystem.callCount(of: .synchronize)
    store.fileSystem.setFaults(FaultPlan([Fault(.synchronize, number: calls + 1)]))
    #expect(throws: StorageError.self) { try store.insert(1) }
    store.fileSystem.setFaults(FaultPlan())
    let disk = store.disk
    #expect(throws: StorageError.self) { try store.insert(1) }
    try store.engine.close()
    #expect(store.disk.hash == disk.hash)
    #expect(try !SimulatedStore(on: store.disk).engine.recovery.wasClosedCleanly)
  }
}

/// Has the background's synchronization fail while somebody else is about to synchronize.
private final class Race: Sendable {
  let backgroundSynchronizes = DispatchSemaphore(value: 0)
  private let otherWrites = DispatchSemaphore(value: 0)
  private let hasFailed = DispatchSemaphore(value: 0)
  private let stage = Mutex(Stage.idle)

  private enum Stage { case idle, armed, synchronizing, writing }

  func arm() { stage.withLock { $0 = .armed } }

  func will(_ call: HookedFileSystem.Call) {
    guard call.path.hasSuffix(".seg") else { return }
    let reached = stage.withLock { stage -> Stage? in
      switch (stage, call.operation) {
      case (.armed, .synchronize): stage = .synchronizing
      case (.synchronizing, .write): stage = .writing
      default: return nil
      }
      return stage
    }
    switch reached {
    case .synchronizing:
      backgroundSynchronizes.signal()
      otherWrites.wait()
    case .writing:
      // Has the lead's lock, so the background cannot say anything before this has come to its end.
      otherWrites.signal()
      hasFailed.wait()
    default: break
    }
  }

  func didFail() { hasFailed.signal() }
}
