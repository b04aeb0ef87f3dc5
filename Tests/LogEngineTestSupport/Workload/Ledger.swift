import LogEngine
import Synchronization

/// Writes down, while a workload runs, what was promised when, and each disk a power cut could meet.
package final class Ledger: Sendable {
  private struct State: Sendable {
    var model = ReferenceModel()
    var moments: [Moment] = []
    var step = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// The disk just before a call that changes it, and what the store then owes.
  package struct Moment: Sendable {
    package var call: SimulatedFileSystem.Call
    /// The step of the workload under way.
    package var step: Int
    package var disk: Disk
    package var promise: Promise
  }

  package var model: ReferenceModel { state.withLock { $0.model } }
  package var moments: [Moment] { state.withLock { $0.moments } }

  package func update<R: Sendable>(_ change: @Sendable (inout ReferenceModel) -> R) -> R {
    state.withLock { change(&$0.model) }
  }

  package func begin(step: Int) { state.withLock { $0.step = step } }

  /// Keeps a moment; meant as a file system's observer.
  package func record(_ call: SimulatedFileSystem.Call, _ disk: Disk) {
    state.withLock { state in
      state.moments.append(
        Moment(call: call, step: state.step, disk: disk, promise: state.model.promise)
      )
    }
  }
}

extension SimulatedFileSystem {
  /// A file system that tells a ledger of every change.
  convenience init(
    seed: UInt64,
    disk: Disk = Disk(),
    faults: FaultPlan = FaultPlan(),
    ledger: Ledger?
  ) {
    var observer: Observer?
    if let ledger { observer = { call, disk in ledger.record(call, disk) } }
    self.init(seed: seed, disk: disk, faults: faults, observer: observer)
  }
}
