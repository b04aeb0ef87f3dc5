import Foundation
import Harness

/// The resources that the process holds.
struct Footprint {
  let threads: Int
  let descriptors: Int
  let heapBytes: Int
  let anonymousMegabytes: Double

  static func current() -> Footprint {
    Footprint(
      threads: entries(of: "/proc/self/task"),
      descriptors: entries(of: "/proc/self/fd"),
      heapBytes: liveHeapBytes(),
      anonymousMegabytes: Harness.anonymousMegabytes()
    )
  }

  /// The footprint once the number of threads has not changed for two seconds, or after half a minute.
  static func settled() -> Footprint {
    var last = entries(of: "/proc/self/task")
    var calm = 0
    for _ in 0..<120 where calm < 8 {
      usleep(250_000)
      let now = entries(of: "/proc/self/task")
      calm = now == last ? calm + 1 : 0
      last = now
    }
    return current()
  }

  private static func entries(of path: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
  }

  /// A line of figures; those of a store are of the stores opened since an earlier footprint, but for its bytes
  /// on disk: those are of all.
  func described(
    since before: Footprint,
    count: Int,
    of opened: Int,
    _ perStore: Duration,
    diskByteCount: Int,
    threadPeak: Int
  ) -> String {
    let heap = Double(heapBytes - before.heapBytes) / Double(opened)
    let anonymous = (anonymousMegabytes - before.anonymousMegabytes) * 1e6 / Double(opened)
    let files = Double(descriptors - before.descriptors) / Double(opened)
    let microseconds = perStore / Duration.microseconds(1)
    return String(
      format:
        "%6d stores: a store %.0f bytes of heap, %.0f resident, %.0f on disk, %.1f descriptors, "
        + "%.0f µs to open and save; %d threads, %d at most",
      count,
      heap,
      anonymous,
      Double(diskByteCount) / Double(count),
      files,
      microseconds,
      threads,
      threadPeak
    )
  }
}
