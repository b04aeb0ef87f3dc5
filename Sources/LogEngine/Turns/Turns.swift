import Locking
import LogFormat
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A process's turns at writing a store that several processes write.
///
/// A turn is the process's: while it lasts, all its threads may write, as if it had the store alone. So their commits
/// group themselves as ever. A turn that has lasted for ``burst`` takes nobody in any more, and ends with the last
/// thread that is in it; the next one begins when the lock of `TURN` comes round again.
///
/// ``LogWriter`` begins and ends turns; see there for the steps.
final class Turns: @unchecked Sendable {
  let file: TurnFile
  let membership: Membership
  /// How many turns there were when this process last was ready to append.
  let known: Atomic<UInt64>
  /// How many turns there were when this process last read the log.
  let read: Atomic<UInt64>
  /// How long threads may join a turn, in microseconds.
  static let burst = 5000

  private let gate = Monitor()
  @safe @exclusivity(unchecked) private var phase = Phase.between
  /// How many threads are in the turn.
  @safe @exclusivity(unchecked) private var count = 0
  @safe @exclusivity(unchecked) private var start = 0
  /// By thread, how often it entered the turn.
  @safe @exclusivity(unchecked) private var depths: [UInt: Int] = [:]

  /// Keys that this process may give out, by table.
  private let reserved = Lock<[UInt16: Range<UInt64>]>([:], .commitMarks)

  private enum Phase { case between, changing, open }

  init(_ file: TurnFile, _ membership: Membership, known: UInt64) {
    self.file = file
    self.membership = membership
    self.known = Atomic(known)
    read = Atomic(known)
  }

  /// Enters the turn of this process, or has one begin; waits for the turns of others.
  ///
  /// A thread may enter again while it is in a turn.
  ///
  /// - Throws: What `begin` throws; then the thread is in no turn.
  func enter(_ begin: () throws(StorageError) -> Void) throws(StorageError) {
    let thread = Self.thread
    let isFirst = gate.withMutex { () -> Bool in
      if let depth = depths[thread] {
        depths[thread] = depth + 1
        return false
      }
      while true {
        switch phase {
        case .between:
          phase = .changing
          return true
        case .open where count == 0 || Monitor.now() - start < Self.burst:
          count += 1
          depths[thread] = 1
          return false
        case .open, .changing: gate.wait(for: .end)
        }
      }
    }
    guard isFirst else { return }
    do throws(StorageError) {
      try begin()
    } catch {
      gate.withMutex {
        phase = .between
        gate.broadcast(.end)
      }
      throw error
    }
    gate.withMutex {
      phase = .open
      count = 1
      depths[thread] = 1
      start = Monitor.now()
      gate.broadcast(.end)
    }
  }

  /// Leaves the turn; the last thread ends it.
  func leave(_ end: () -> Void) {
    let thread = Self.thread
    let isLast = gate.withMutex { () -> Bool in
      let depth = depths[thread] ?? 0
      precondition(depth > 0, "a thread leaves a turn that it is not in")
      if depth > 1 {
        depths[thread] = depth - 1
        return false
      }
      depths[thread] = nil
      count -= 1
      if count > 0 { return false }
      phase = .changing
      return true
    }
    guard isLast else { return }
    end()
    gate.withMutex {
      phase = .between
      gate.broadcast(.end)
    }
  }

  /// How many keys a process gets at least when it asks for some.
  static let keyReserve = 64

  /// Gives out keys that this process got earlier; `nil` if there are too few.
  func takeReserved(_ count: Int, of table: UInt16) -> Range<UInt64>? {
    reserved.withLock { reserved in
      guard let keys = reserved[table], keys.count >= count else { return nil }
      let end = keys.lowerBound + UInt64(count)
      reserved[table] = end..<keys.upperBound
      return keys.lowerBound..<end
    }
  }

  /// Keeps keys for later; those that were left are never given out.
  func reserve(_ keys: Range<UInt64>, of table: UInt16) {
    if !keys.isEmpty { reserved.withLock { $0[table] = keys } }
  }

  /// Whether the calling thread is in a turn.
  var isEntered: Bool { gate.withMutex { depths[Self.thread] != nil } }

  private static var thread: UInt {
    #if canImport(Darwin) || canImport(Musl)
    return UInt(bitPattern: pthread_self())
    #else
    return UInt(pthread_self())
    #endif
  }
}
