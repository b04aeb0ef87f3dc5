import Dispatch
import Synchronization
import Testing

@testable import ModelRuntime

@Suite struct `A lane of work` {
  private final class Counts: Sendable {
    let running = Atomic(0)
    let most = Atomic(0)

    func begin() {
      most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    }
  }

  @Test(arguments: [1, 2, 5])
  func `runs as many blocks at once as it is wide, and no more`(width: Int) async throws {
    let lane = WorkLane(width: width)
    let counts = Counts()
    // The first blocks wait for each other: they end only if all of them run at once.
    let all = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await lane.run {
            counts.begin()
            if counts.most.load(ordering: .relaxed) < width { all.wait() }
            all.signal()
            counts.running.subtract(1, ordering: .relaxed)
            return number
          }
        }
      }
      var numbers: Set<Int> = []
      for try await number in group { numbers.insert(number) }
      #expect(numbers == Set(0..<200))
    }
    #expect(counts.most.load(ordering: .relaxed) == width)
    #expect(lane.mostRunning == width)
  }

  private final class Order: Sendable {
    let numbers = Mutex<[Int]>([])
  }

  @Test func `runs blocks in the order in which they came`() async {
    let lane = WorkLane(width: 1)
    let gate = DispatchSemaphore(value: 0)
    let order = Order()
    let (ends, end) = AsyncStream<Void>.makeStream()
    for number in 0..<300 {
      let job = WorkLane.Job()
      job.prepare(
        run: {
          if number == 0 { gate.wait() }
          order.numbers.withLock { $0.append(number) }
          if number == 299 { end.finish() }
        },
        cancel: {}
      )
      lane.submit(job)
      // Each third one is given up while it waits.
      if number % 3 == 1 { job.cancel() }
    }
    gate.signal()
    for await _ in ends {}
    #expect(order.numbers.withLock { $0 } == (0..<300).filter { $0 % 3 != 1 })
  }

  @Test func `does not begin what was cancelled before it waited`() async {
    let lane = WorkLane(width: 1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await lane.run { true }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  private final class Calls: Sendable {
    let names = Mutex<[String]>([])
  }

  @Test func `says once that a job was cancelled, and never after it began`() {
    let calls = Calls()
    for isFirst in [true, false] {
      let job = WorkLane.Job()
      job.prepare(
        run: { calls.names.withLock { $0.append("run") } },
        cancel: { calls.names.withLock { $0.append("cancel") } }
      )
      if isFirst { job.begin() }
      job.cancel()
      job.cancel()
      job.begin()
    }
    #expect(calls.names.withLock { $0 } == ["run", "cancel"])
  }

  @Test func `throws what a block throws, and goes on`() async throws {
    struct Refused: Error {}
    let lane = WorkLane(width: 1)
    await #expect(throws: Refused.self) { try await lane.run { throw Refused() } }
    #expect(try await lane.run { 7 } == 7)
  }
}
