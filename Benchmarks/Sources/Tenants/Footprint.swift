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

  /// The resources of each store that was opened since an earlier footprint.
  func figures(since before: Footprint, stores: Int) -> [Metric: Double] {
    let count = Double(stores)
    return [
      .bytesPerStore: (anonymousMegabytes - before.anonymousMegabytes) * 1e6 / count,
      .heapBytesPerStore: Double(heapBytes - before.heapBytes) / count,
      .descriptorsPerStore: Double(descriptors - before.descriptors) / count,
      .threads: Double(threads),
    ]
  }
}
