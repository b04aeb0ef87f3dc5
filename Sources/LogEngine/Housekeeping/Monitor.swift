import LibC

/// A mutex with the events that its holders wait for.
///
/// Nothing else is locked under the mutex, so it has no place in the order of locks.
@safe final class Monitor: @unchecked Sendable {
  /// An event that threads wait for.
  enum Event: Int, CaseIterable {
    /// There is work.
    case work
    /// A deadline has passed, or changed.
    case time
    /// Some work has ended.
    case end
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let conditions: UnsafeMutablePointer<pthread_cond_t>

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe conditions = .allocate(capacity: Event.allCases.count)
    unsafe pthread_mutex_init(mutex, nil)
    for event in Event.allCases { unsafe Self.initialize(conditions + event.rawValue) }
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    for event in Event.allCases { unsafe pthread_cond_destroy(conditions + event.rawValue) }
    unsafe mutex.deallocate()
    unsafe conditions.deallocate()
  }

  func withMutex<R>(_ body: () -> R) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Releases the mutex while `body` runs; called by the thread that holds it.
  func withoutMutex<R>(_ body: () -> R) -> R {
    unsafe pthread_mutex_unlock(mutex)
    defer { unsafe pthread_mutex_lock(mutex) }
    return body()
  }

  // The thread that calls the following functions must hold the mutex.

  /// Wakes one of the waiting threads.
  func signal(_ event: Event) { unsafe pthread_cond_signal(conditions + event.rawValue) }

  /// Wakes all waiting threads.
  func broadcast(_ event: Event) { unsafe pthread_cond_broadcast(conditions + event.rawValue) }

  /// Waits; may return early.
  func wait(for event: Event) { unsafe pthread_cond_wait(conditions + event.rawValue, mutex) }

  // MARK: Time

  // The time of day may be set back while a thread sleeps, which would sleep longer by as much: so both the conditions and the
  // deadlines use the monotonic clock.

  /// Returns the time of the monotonic clock, in microseconds.
  static func now() -> Int {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int(now.tv_sec) * 1_000_000 + Int(now.tv_nsec) / 1000
  }

  /// Waits for that many microseconds at most; may return early.
  ///
  /// - Returns: `false` if the time has passed.
  func wait(for event: Event, atMost microseconds: Int) -> Bool {
    guard microseconds > 0 else { return false }
    let condition = unsafe conditions + event.rawValue
    var time = timespec()
    #if canImport(Darwin)
    // Darwin waits for a duration, not until a deadline.
    time.tv_sec = microseconds / 1_000_000
    time.tv_nsec = microseconds % 1_000_000 * 1000
    return unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time) != ETIMEDOUT
    #else
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = time.tv_nsec + microseconds % 1_000_000 * 1000
    time.tv_sec += microseconds / 1_000_000 + nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    return unsafe pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    #endif
  }

  private static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    #if canImport(Darwin)
    unsafe pthread_cond_init(condition, nil)
    #else
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    let status = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    precondition(status == 0, "the system has no monotonic clock: error \(status)")
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    #endif
  }
}

/// Threads that are never joined.
enum Thread {
  /// The calling thread.
  static var current: UInt {
    #if canImport(Darwin) || canImport(Musl)
    return UInt(bitPattern: pthread_self())
    #else
    return UInt(pthread_self())
    #endif
  }

  /// Starts a thread.
  ///
  /// - Returns: `false` if the system has none left.
  static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
    let argument = unsafe Unmanaged.passRetained(Body(run)).toOpaque()
    #if canImport(Darwin) || canImport(Musl)
    // The type is a pointer on these platforms, a number on others. (Not compiled with musl yet.)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let status = unsafe pthread_create(&thread, nil, { unsafe Thread.run($0) }, argument)
    guard status == 0 else {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
      return false
    }
    #if canImport(Darwin) || canImport(Musl)
    if let thread { pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
    return true
  }

  /// Runs `body` on a thread of its own and waits for it, so that it may take any lock, whatever the calling thread holds.
  static func runAside<R: Sendable>(_ body: @escaping @Sendable () -> R) -> R {
    let outcome = Outcome<R>()
    guard start({ outcome.set(body()) }) else { return body() }
    return outcome.wait()
  }

  /// A value that one thread waits for.
  private final class Outcome<R: Sendable>: @unchecked Sendable {
    private let monitor = Monitor()
    private var value: R?

    func set(_ value: R) {
      monitor.withMutex {
        self.value = value
        monitor.broadcast(.end)
      }
    }

    func wait() -> R {
      monitor.withMutex {
        while true {
          if let value { return value }
          monitor.wait(for: .end)
        }
      }
    }
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument {
      unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    }
    return nil
  }

  /// Lets other threads run that are ready to.
  static func yield() { sched_yield() }

  /// Gives the calling thread the lowest priority.
  static func lowerPriority() {
    #if canImport(Darwin)
    _ = pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    #elseif canImport(Glibc)
    // On Linux this changes the priority of the calling thread alone.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #else
    _ = setpriority(PRIO_PROCESS, 0, 10)
    #endif
  }
}
