package import LogEngine
import Synchronization

/// A file system whose every step is known, counted and repeatable.
///
/// What is written reaches a ``Disk``, which knows what a power cut would leave of it. Calls fail as a
/// ``FaultPlan`` says. Time and chance come from the seed: the same seed and the same calls give
/// the same disk, byte for byte.
package final class SimulatedFileSystem: FileSystem {
  private let state: Mutex<State>
  /// Told of every call that is about to change the disk, and of the disk before it.
  private let observer: Observer?

  package typealias Observer = @Sendable (Call, Disk) -> Void

  /// One call, as the engine made it.
  package struct Call: Sendable, Hashable {
    /// Counted over all calls, from 1.
    package var number: Int
    package var operation: FileOperation
    package var path: String
  }

  struct State: Sendable {
    var disk: Disk
    var faults: FaultPlan
    var random: SeededGenerator
    var now: Int64
    var callCount = 0
    var calls: [FileOperation: Int] = [:]
    var locked: Set<String> = []
  }

  /// Starts with a disk as a power cut, or nobody, has left it.
  package init(
    seed: UInt64,
    disk: Disk = Disk(),
    faults: FaultPlan = FaultPlan(),
    observer: Observer? = nil
  ) {
    var random = SeededGenerator(seed: seed)
    let now = 1_700_000_000_000_000 + Int64(random.next() >> 24)
    state = Mutex(State(disk: disk, faults: faults, random: random, now: now))
    self.observer = observer
  }

  /// The disk as it is now.
  package var disk: Disk { state.withLock { $0.disk } }

  /// Damages the disk while files are open.
  package func damage(_ damage: Damage) { state.withLock { damage.apply(to: &$0.disk) } }

  /// How many calls were made.
  package var callCount: Int { state.withLock { $0.callCount } }

  /// How many calls of one kind were made.
  package func callCount(of operation: FileOperation) -> Int {
    state.withLock { $0.calls[operation] ?? 0 }
  }

  /// Changes what fails from now on.
  package func setFaults(_ plan: FaultPlan) { state.withLock { $0.faults = plan } }

  /// Makes one numbered call.
  func call<R: Sendable>(
    _ operation: FileOperation,
    _ path: String,
    _ body: (inout State, Fault?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let (number, before) = state.withLock { state in
      state.callCount += 1
      return (state.callCount, observer == nil || !operation.changesDisk ? nil : state.disk)
    }
    if let before { observer?(Call(number: number, operation: operation, path: path), before) }
    return try state.withLock { (state) throws(StorageError) in
      let count = (state.calls[operation] ?? 0) + 1
      state.calls[operation] = count
      return try body(&state, state.faults.fault(at: count, of: operation, path))
    }
  }
}

extension FileOperation {
  var changesDisk: Bool {
    switch self {
    case .read, .size, .map, .list, .lock: false
    default: true
    }
  }
}

extension Fault {
  /// The error the engine gets, if the fault is one that shows.
  func error(_ operation: FileOperation, _ path: String, needed: Int = 0) -> StorageError? {
    switch effect {
    case .error(let code): .inputOutput(path: path, operation: operation, errno: code)
    case .noSpace: .noSpace(path: path, needed: needed)
    case .misdirected: nil
    }
  }
}

// MARK: Time, chance and locks

extension SimulatedFileSystem {
  /// A clock that goes on by some microseconds each time it is read, and now and then jumps back.
  package func microseconds() -> Int64 {
    state.withLock { state in
      state.now += state.random.oneIn(16) ? -3_600_000_000 : Int64(state.random.next() >> 48)
      return state.now
    }
  }

  package func randomBits() -> UInt64 { state.withLock { $0.random.next() } }

  package var holderDescription: String { "simulation" }

  package func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    let taken = try call(.lock, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.lock, path) { throw error }
      if state.disk.file(at: path) == nil { _ = state.disk.create(path) }
      return state.locked.insert(path).inserted
    }
    guard taken else { return nil }
    return SimulatedLock { [self] in _ = state.withLock { $0.locked.remove(path) } }
  }
}

private final class SimulatedLock: FileLock {
  private let release: @Sendable () -> Void
  init(release: @escaping @Sendable () -> Void) { self.release = release }
  deinit { release() }
}
