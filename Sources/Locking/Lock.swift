public import LibC

/// A value that one thread at a time may use.
///
/// It is `Mutex` with two differences. A running thread may take a lock before a waiting one: on Linux, `Mutex` hands the lock
/// over to the thread that has waited longest, and with more threads than processors every use then waits until that thread
/// runs again. And in debug builds, a thread that takes its locks in another order than that of their ranks stops the program:
/// two such threads could wait for each other for ever.
///
/// A thread must not take a lock again that it holds. Locks are not fair: a thread may wait while others take the lock several
/// times, so hold it briefly.
///
/// Creating a lock costs one allocation; taking a free lock is one atomic operation.
@safe @usableFromInline package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>
  @usableFromInline let rank: LockRank

  /// Creates a lock that is free.
  ///
  /// - Parameters:
  ///   - initialValue: The guarded value.
  ///   - rank: Its place in the order in which threads take locks.
  @inlinable package init(_ initialValue: consuming sending Value, _ rank: LockRank) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: initialValue)
    self.rank = rank
    unsafe LockPrimitive.initialize(mutex)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Lends the value while no other thread can use it.
  ///
  /// - Parameter body: Called once, with the lock held.
  /// - Returns: The value that `body` returns.
  /// - Throws: What `body` throws.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    LockOrder.assertMayTake(rank)
    unsafe pthread_mutex_lock(mutex)
    LockOrder.record(taken: rank)
    defer {
      LockOrder.record(released: rank)
      unsafe pthread_mutex_unlock(mutex)
    }
    return try unsafe body(&value.pointee)
  }

  /// Lends the value if no other thread is using it, without waiting.
  ///
  /// - Parameter body: Called at most once, with the lock held.
  /// - Returns: The value that `body` returns; `nil` if the lock was held.
  /// - Throws: What `body` throws.
  @inlinable package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    LockOrder.record(taken: rank)
    defer {
      LockOrder.record(released: rank)
      unsafe pthread_mutex_unlock(mutex)
    }
    return try unsafe body(&value.pointee)
  }
}

/// The system's lock.
@usableFromInline enum LockPrimitive {
  @usableFromInline static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    var attributes = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&attributes)
    #if canImport(Glibc)
    // The lock is tried a few times before the thread sleeps: most locks are held for less time than going to sleep takes.
    unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
    #endif
    let status = unsafe pthread_mutex_init(mutex, &attributes)
    precondition(status == 0, "a lock could not be made: error \(status)")
    unsafe pthread_mutexattr_destroy(&attributes)
  }
}
