import LibC

/// A lock's place in the order in which every thread takes locks: ascending.
///
/// The ranks of the engine are in its `LockTable.swift`.
@usableFromInline package struct LockRank: Sendable {
  @usableFromInline package let number: Int
  @usableFromInline package let name: StaticString

  package init(_ number: Int, _ name: StaticString) {
    self.number = number
    self.name = name
  }
}

/// The ranks of the locks that a thread holds, in debug builds.
@usableFromInline enum LockOrder {
  /// Stops the program if a lock must not be taken now, because a lock of its rank or a higher one is held.
  @inlinable static func assertMayTake(_ rank: LockRank) {
    assert(mayTake(rank), violation(rank))
  }

  @inlinable static func record(taken rank: LockRank) {
    assert(held { $0.append(rank) })
  }

  @inlinable static func record(released rank: LockRank) {
    assert(held { held in held.removeAll { $0.number == rank.number } })
  }

  @usableFromInline static func mayTake(_ rank: LockRank) -> Bool {
    var isAllowed = true
    _ = held { held in isAllowed = held.allSatisfy { $0.number < rank.number } }
    return isAllowed
  }

  @usableFromInline static func violation(_ rank: LockRank) -> String {
    var names = ""
    _ = held { held in names = held.map { "\($0.name) (\($0.number))" }.joined(separator: ", ") }
    return "the lock \(rank.name) (\(rank.number)) is to be taken by a thread that holds \(names)"
  }

  /// Lends the ranks that this thread holds.
  ///
  /// - Returns: `true`, so that it can be called within `assert`, which leaves it out of release builds.
  @usableFromInline static func held(_ body: (inout [LockRank]) -> Void) -> Bool {
    let ranks: Ranks
    if let known = unsafe pthread_getspecific(key) {
      ranks = unsafe Unmanaged<Ranks>.fromOpaque(known).takeUnretainedValue()
    } else {
      ranks = Ranks()
      unsafe pthread_setspecific(key, Unmanaged.passRetained(ranks).toOpaque())
    }
    body(&ranks.held)
    return true
  }

  private final class Ranks {
    var held: [LockRank] = []
  }

  /// The key of each thread's ranks, which are released with the thread.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { pointer in
      // The system passes a pointer that is never null; its type differs between systems.
      let pointer: UnsafeMutableRawPointer? = unsafe pointer
      if let pointer = unsafe pointer { unsafe Unmanaged<Ranks>.fromOpaque(pointer).release() }
    }
    precondition(status == 0, "no key for a thread's locks: error \(status)")
    return key
  }()
}
