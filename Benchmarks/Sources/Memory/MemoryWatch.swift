import Foundation
import Harness
import Synchronization

/// A thread that looks ten times a second how much memory a control group has beside pages of files.
final class MemoryWatch {
  private let peak: Peak
  private let repetition: Repetition

  private final class Peak: Sendable {
    let megabytes = Mutex(0.0)
  }

  init(_ group: ControlGroup) {
    let peak = Peak()
    let read = group.anonymousMegabytesReader
    self.peak = peak
    repetition = Repetition {
      {
        let now = read()
        peak.megabytes.withLock { $0 = max($0, now) }
        usleep(100_000)
      }
    }
  }

  /// Ends the thread.
  ///
  /// - Returns: The greatest figure it saw, in megabytes.
  func stop() -> Double {
    _ = try? repetition.stop()
    return peak.megabytes.withLock { $0 }
  }
}
