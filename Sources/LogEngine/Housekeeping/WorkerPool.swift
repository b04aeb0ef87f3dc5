import LibC

/// The threads that all stores of a process share for work that no caller waits for.
///
/// They are threads, not tasks: two tasks that block in the file system would keep every other task of a two-core machine
/// waiting. There are only as many as have work, up to a limit, so that ten thousand open stores need no more than one does; an
/// idle thread ends after a while. A file system that never answers keeps a thread for good: with as many such stores as there
/// are threads, the others' work waits, too.
///
/// Each ``Worker`` is run by one thread at a time. Of the idle threads one, the timekeeper, sleeps until the next worker is
/// due, the others until they are called.
@safe package final class WorkerPool: @unchecked Sendable {
  /// The priority of a pool's threads.
  enum Priority { case usual, lowest }

  package static let usual = WorkerPool(.usual)
  package static let lowest = WorkerPool(.lowest)

  /// The maximum number of threads.
  let threadLimit: Int
  private let priority: Priority
  /// The time for which an idle thread stays, in microseconds.
  private let patience: Int
  private let monitor = Monitor()

  // The monitor's mutex guards the following properties, and the state of each worker.

  /// The workers that are ready to run, in order, from ``readyStart`` on.
  private var ready: [Worker] = []
  private var readyStart = 0
  /// The workers that are due at a later time.
  private var timetable = Timetable()
  private var threads = 0
  /// The number of idle threads, which wait to be called.
  private var idleThreads = 0
  /// The number of idle threads that were called and have not woken yet.
  private var calls = 0
  /// Whether a thread waits until the next worker is due, and whether it was called meanwhile.
  private var hasTimekeeper = false
  private var isTimekeeperCalled = false

  /// Creates a pool without threads.
  ///
  /// - Parameters:
  ///   - priority: The priority of its threads.
  ///   - threadLimit: The maximum number of threads; by default twice the number of processors, since they mostly wait for the
  ///     disk.
  ///   - patience: The time for which an idle thread stays, in microseconds.
  init(_ priority: Priority, threadLimit: Int? = nil, patience: Int = 5_000_000) {
    self.priority = priority
    self.patience = patience
    self.threadLimit = threadLimit ?? max(4, min(16, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  /// The current number of threads.
  var threadCount: Int { monitor.withMutex { threads } }

  /// Runs a worker now, or once more if it is running.
  func signal(_ worker: Worker) {
    monitor.withMutex {
      if worker.isStopped || worker.isReady { return }
      if worker.runner != nil {
        worker.isSignalled = true
        return
      }
      timetable.remove(worker)
      append(worker)
      callThread()
    }
  }

  /// Stops a worker and waits for its current run to end, unless the worker itself calls this.
  func stop(_ worker: Worker) {
    monitor.withMutex {
      worker.isStopped = true
      timetable.remove(worker)
      while let runner = worker.runner, pthread_equal(runner, pthread_self()) == 0 {
        monitor.wait(for: .end)
      }
    }
  }

  // MARK: Threads

  /// Calls or starts a thread, if the limit allows one.
  private func callThread() {
    if idleThreads > calls {
      calls += 1
      monitor.signal(.work)
    } else if hasTimekeeper, !isTimekeeperCalled {
      isTimekeeperCalled = true
      monitor.signal(.time)
    } else if threads < threadLimit {
      threads += 1
      if !Thread.start({ [self] in serve() }) { threads -= 1 }
    }
  }

  /// Runs workers until the thread has been idle for too long.
  private func serve() {
    if priority == .lowest { Thread.lowerPriority() }
    monitor.withMutex {
      while true {
        if let worker = takeWorker() {
          // If there is more work, threads call each other.
          if readyStart < ready.count || !hasTimekeeper && !timetable.isEmpty { callThread() }
          run(worker)
        } else if !hasTimekeeper, let deadline = timetable.next {
          hasTimekeeper = true
          _ = monitor.wait(for: .time, atMost: deadline - Monitor.now())
          hasTimekeeper = false
          isTimekeeperCalled = false
        } else {
          idleThreads += 1
          let wasCalled = monitor.wait(for: .work, atMost: patience)
          idleThreads -= 1
          if calls > 0 {
            calls -= 1
          } else if !wasCalled, readyStart == ready.count, hasTimekeeper || timetable.isEmpty {
            threads -= 1
            return
          }
        }
      }
    }
  }

  private func run(_ worker: Worker) {
    worker.isSignalled = false
    worker.runner = pthread_self()
    let delay = monitor.withoutMutex {
      worker.work()
      return worker.delay()
    }
    worker.runner = nil
    if worker.isStopped {
      monitor.broadcast(.end)
    } else if worker.isSignalled {
      append(worker)
    } else {
      wait(worker, delay)
    }
  }

  // MARK: Workers

  private func wait(_ worker: Worker, _ delay: Int?) {
    guard let delay, !worker.isStopped, !worker.isReady else { return }
    let deadline = Monitor.now() + delay
    let isFirst = timetable.next.map { deadline < $0 } ?? true
    timetable.insert(worker, at: deadline)
    guard isFirst else { return }
    if hasTimekeeper { monitor.signal(.time) } else { callThread() }
  }

  private func append(_ worker: Worker) {
    worker.isReady = true
    ready.append(worker)
  }

  /// Returns the next worker that is ready; workers that are due become ready first.
  private func takeWorker() -> Worker? {
    let now = timetable.isEmpty ? 0 : Monitor.now()
    while let worker = timetable.takeFirst(dueAt: now) { append(worker) }
    while readyStart < ready.count {
      let worker = ready[readyStart]
      readyStart += 1
      if 2 * readyStart >= ready.count {
        ready.removeFirst(readyStart)
        readyStart = 0
      }
      worker.isReady = false
      if !worker.isStopped { return worker }
    }
    return nil
  }
}

/// Recurring work that a thread of a pool does: after each signal, and when its delay is over.
package final class Worker: @unchecked Sendable {
  private let pool: WorkerPool
  /// The longest wait until the next run, in microseconds; `nil` for no limit.
  fileprivate let delay: @Sendable () -> Int?
  fileprivate let work: @Sendable () -> Void

  // The pool guards the following properties.

  /// Whether the worker waits for a thread.
  fileprivate var isReady = false
  /// The thread that runs the worker.
  fileprivate var runner: pthread_t?
  /// Whether the worker must run again at once.
  fileprivate var isSignalled = false
  fileprivate var isStopped = false
  /// The time at which the worker is due, and its place in the timetable.
  fileprivate var deadline = 0
  fileprivate var place: Int?

  /// Creates a worker, which runs for the first time when it is signalled.
  ///
  /// - Parameters:
  ///   - pool: The threads that run the worker.
  ///   - delay: Called after each run: returns the longest wait in microseconds; `nil` for no limit.
  ///   - work: Called after each signal, and when the wait is over; never by two threads at once.
  package init(
    of pool: WorkerPool,
    delay: @escaping @Sendable () -> Int?,
    work: @escaping @Sendable () -> Void
  ) {
    self.pool = pool
    self.delay = delay
    self.work = work
  }

  /// Runs the work now, or once more if it is running.
  package func signal() { pool.signal(self) }

  /// Stops the worker and waits for its current run to end, unless the worker itself calls this.
  package func stop() { pool.stop(self) }
}

/// Workers ordered by deadline: a heap, in which each worker knows its place.
struct Timetable {
  private var heap: [Worker] = []

  var isEmpty: Bool { heap.isEmpty }
  /// The deadline of the first worker.
  var next: Int? { heap.first?.deadline }

  mutating func insert(_ worker: Worker, at deadline: Int) {
    remove(worker)
    worker.deadline = deadline
    heap.append(worker)
    place(worker, at: heap.count - 1)
    rise(from: heap.count - 1)
  }

  /// Removes a worker, if it is there.
  mutating func remove(_ worker: Worker) {
    guard let gap = worker.place else { return }
    worker.place = nil
    let last = heap.removeLast()
    guard last !== worker else { return }
    place(last, at: gap)
    rise(from: gap)
    sink(from: last.place ?? gap)
  }

  mutating func takeFirst(dueAt now: Int) -> Worker? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    remove(first)
    return first
  }

  private mutating func place(_ worker: Worker, at index: Int) {
    heap[index] = worker
    worker.place = index
  }

  private mutating func rise(from start: Int) {
    var index = start
    while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
      exchange(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
      guard heap[child].deadline < heap[index].deadline else { return }
      exchange(index, child)
      index = child
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    let worker = heap[one]
    place(heap[other], at: one)
    place(worker, at: other)
  }
}
