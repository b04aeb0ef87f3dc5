import Foundation
import Synchronization

/// Lets threads make commits at once and times them together.
///
/// Threads and not tasks: a commit blocks, and tasks that block starve a pool that has as many threads as
/// there are processors.
///
/// - Parameters:
///   - count: The number of threads.
///   - commits: The number of commits of one row that each makes.
///   - makeCommitter: Makes a thread's committer, outside of what is timed.
/// - Returns: The rate of all threads together, from the first commit's begin to the last one's end.
/// - Throws: The first error of any thread.
public func timeOnThreads(
  _ count: Int,
  commits: Int,
  _ makeCommitter: @escaping @Sendable () throws -> (Int) throws -> Void
) throws -> Sample {
  let done = DispatchGroup()
  let spans = Mutex<[Result<Range<UInt64>, any Error>]>([])
  for _ in 0..<count {
    done.enter()
    let thread = Thread {
      let span = Result {
        try withPriority {
          let commit = try makeCommitter()
          let begin = monotonicNanoseconds()
          for number in 0..<commits { try commit(number) }
          return begin..<monotonicNanoseconds()
        }
      }
      spans.withLock { $0.append(span) }
      done.leave()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  done.wait()
  let times = try spans.withLock { try $0.map { try $0.get() } }
  let begin = times.map(\.lowerBound).min() ?? 0
  let end = times.map(\.upperBound).max() ?? 0
  return Sample([.rowsPerSecond: Double(count * commits) * 1e9 / Double(max(end - begin, 1))])
}
