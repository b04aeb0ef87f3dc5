import Foundation
import Synchronization

/// Lets threads do work for some time and times each piece of it.
///
/// Threads are ordinary: with the priority of real time, those of a contender's own would get no processor beside them.
///
/// - Parameters:
///   - count: The number of threads.
///   - seconds: The time; pieces that were begun are ended.
///   - makeWork: Makes a thread's work, by the thread's number, outside of what is timed; the work is called with the number
///     of each piece.
/// - Returns: The rate of all threads together in pieces a second, and how long each piece took.
/// - Throws: The first error of any thread.
public func timeWork(
  onThreads count: Int,
  forSeconds seconds: Double,
  _ makeWork: @escaping @Sendable (Int) throws -> (Int) throws -> Void
) throws -> Sample {
  let ready = DispatchGroup()
  let done = DispatchGroup()
  let start = DispatchSemaphore(value: 0)
  let outcomes = Mutex<[Result<(span: Range<UInt64>, latencies: [UInt64]), any Error>]>([])
  for number in 0..<count {
    ready.enter()
    done.enter()
    let thread = Thread {
      let work = Result { try makeWork(number) }
      var latencies: [UInt64] = []
      latencies.reserveCapacity(1 << 18)
      ready.leave()
      start.wait()
      let outcome = Result {
        let work = try work.get()
        let begin = monotonicNanoseconds()
        let end = begin + UInt64(seconds * 1e9)
        var last = begin
        while last < end {
          try work(latencies.count)
          let now = monotonicNanoseconds()
          latencies.append(now - last)
          last = now
        }
        return (span: begin..<last, latencies: latencies)
      }
      outcomes.withLock { $0.append(outcome) }
      done.leave()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }
  ready.wait()
  for _ in 0..<count { start.signal() }
  done.wait()
  let all = try outcomes.withLock { try $0.map { try $0.get() } }
  let begin = all.map(\.span.lowerBound).min() ?? 0
  let end = all.map(\.span.upperBound).max() ?? 0
  let latencies = all.flatMap(\.latencies)
  return Sample(
    [.rowsPerSecond: Double(latencies.count) * 1e9 / Double(max(end - begin, 1))],
    latencies: latencies
  )
}
