import LogEngine
import Synchronization

/// Writes down, while photos are stored, what was promised when, and each disk a power cut could meet.
final class PhotoLedger: Sendable {
  /// The rows by key.
  typealias Rows = [UInt64: PhotoRow]

  struct Moment: Sendable {
    var call: SimulatedFileSystem.Call
    var step: Int
    var disk: Disk
    var promise: Promise
  }

  fileprivate struct State: Sendable {
    /// What each commit leaves; the first is the empty store.
    var states: [Rows] = [[:]]
    var acknowledged = 0
    var durable = 0
    var moments: [Moment] = []
    var step = 0
  }

  private let state = Mutex(State())

  var states: [Rows] { state.withLock { $0.states } }
  var newest: Rows { state.withLock { $0.states[$0.states.count - 1] } }
  var acknowledged: Int { state.withLock { $0.acknowledged } }
  var promise: Promise { state.withLock { $0.promise } }
  var moments: [Moment] { state.withLock { $0.moments } }

  func begin(step: Int) { state.withLock { $0.step = step } }
  func issue(_ rows: Rows) { state.withLock { $0.states.append(rows) } }

  func acknowledge(isDurable: Bool) {
    state.withLock { state in
      state.acknowledged = state.states.count - 1
      if isDurable { state.durable = state.acknowledged }
    }
  }

  /// The newest commit was refused.
  func retract() {
    state.withLock { $0.states.removeLast($0.states.count - 1 - $0.acknowledged) }
  }

  func synchronize() { state.withLock { $0.durable = $0.acknowledged } }

  /// The store was opened again, and holds the commits up to one.
  func adopt(_ recovered: Int) {
    state.withLock { state in
      state.states.removeLast(state.states.count - 1 - recovered)
      state.acknowledged = recovered
      state.durable = recovered
    }
  }

  /// Keeps a moment; meant as a file system's observer.
  func record(_ call: SimulatedFileSystem.Call, _ disk: Disk) {
    state.withLock { state in
      state.moments.append(Moment(call: call, step: state.step, disk: disk, promise: state.promise))
    }
  }
}

extension PhotoLedger.State {
  fileprivate var promise: Promise {
    Promise(durable: durable, acknowledged: acknowledged, issued: states.count - 1)
  }
}
