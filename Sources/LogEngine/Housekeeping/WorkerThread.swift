#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A thread that sleeps until there is something to do.
///
/// A thread of its own, and not a task: two tasks that block in the file system would keep every other
/// task of a two-core machine waiting.
@safe final class WorkerThread: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  /// Guarded by the mutex, like the next.
  private var isSignalled = false
  private var isStopping = false
  private var thread: pthread_t?

  /// How a thread competes with others.
  enum Priority { case usual, lowest }

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - priority: How it competes.
  ///   - timeout: How many microseconds to sleep at most; `nil` for as long as it takes.
  ///   - work: Called after each signal, and when that time is over.
  init(
    priority: Priority,
    timeout: @escaping @Sendable () -> Int?,
    work: @escaping @Sendable () -> Void
  ) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe WorkerThread.initialize(condition)
    let body = Body { [weak self] in
      if priority == .lowest { WorkerThread.lowerPriority() }
      while self?.sleep(timeout()) == true { work() }
    }
    let argument = unsafe Unmanaged.passRetained(body).toOpaque()
    #if canImport(Darwin) || canImport(Musl)
    // A pointer there, a number elsewhere. (Not compiled with musl yet.)
    var started: pthread_t?
    #else
    var started = pthread_t()
    #endif
    let status = unsafe pthread_create(&started, nil, { unsafe WorkerThread.run($0) }, argument)
    if status == 0 {
      thread = started
    } else {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
    }
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe pthread_cond_destroy(condition)
    unsafe mutex.deallocate()
    unsafe condition.deallocate()
  }

  /// Wakes the thread, or has it run once more if it is awake.
  func signal() {
    unsafe pthread_mutex_lock(mutex)
    isSignalled = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Ends the thread, after what it is doing, and waits for that.
  func stop() {
    unsafe pthread_mutex_lock(mutex)
    isStopping = true
    let running = thread
    thread = nil
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
    if let running { pthread_join(running, nil) }
  }

  /// Sleeps until there is something to do.
  ///
  /// - Returns: `false` if the thread is to end.
  private func sleep(_ microseconds: Int?) -> Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    let deadline = microseconds.map { WorkerThread.now() + $0 }
    while !isSignalled && !isStopping {
      guard let deadline else {
        unsafe pthread_cond_wait(condition, mutex)
        continue
      }
      let rest = deadline - WorkerThread.now()
      if rest <= 0 { break }
      waitForSignal(atMost: rest)
    }
    isSignalled = false
    return !isStopping
  }

  // MARK: Time

  // The time of day may be set back while a thread sleeps, and the thread would sleep on by as much: so both the
  // condition and the deadlines go by the clock that is never set.

  /// Microseconds of a clock that is never set.
  private static func now() -> Int {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int(now.tv_sec) * 1_000_000 + Int(now.tv_nsec) / 1000
  }

  private static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
    #if canImport(Darwin)
    // Waits there are for a time, and not up to one.
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

  /// Waits once, under the mutex; may return early.
  private func waitForSignal(atMost microseconds: Int) {
    var time = timespec()
    #if canImport(Darwin)
    time.tv_sec = microseconds / 1_000_000
    time.tv_nsec = microseconds % 1_000_000 * 1000
    _ = unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = time.tv_nsec + microseconds % 1_000_000 * 1000
    time.tv_sec += microseconds / 1_000_000 + nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    _ = unsafe pthread_cond_timedwait(condition, mutex, &time)
    #endif
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

  private static func lowerPriority() {
    #if canImport(Darwin)
    _ = pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    #elseif canImport(Glibc)
    // On Linux this is the priority of the calling thread alone.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #else
    _ = setpriority(PRIO_PROCESS, 0, 10)
    #endif
  }
}
