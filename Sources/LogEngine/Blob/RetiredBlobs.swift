import LogFormat
import RowFormat

/// The blobs that commits took from their rows, until their files can go.
struct RetiredBlobs: Sendable {
  private struct Entry {
    let ids: [BlobID]
    /// The commit that took them.
    let sequence: UInt64
    /// Where the log ended once that commit was written.
    let logEnd: UInt64

    func isReleasable(_ durableEnd: UInt64, _ oldestPin: UInt64) -> Bool {
      logEnd <= durableEnd && sequence <= oldestPin
    }
  }

  private var entries: [Entry] = []
  private(set) var count = 0

  mutating func add(_ ids: [BlobID], sequence: UInt64, logEnd: UInt64) {
    entries.append(Entry(ids: ids, sequence: sequence, logEnd: logEnd))
    count += ids.count
  }

  /// Whether there is something that no view can see any more; see ``takeReleasable(durableEnd:oldestPin:)``.
  func hasReleasable(durableEnd: UInt64, oldestPin: UInt64) -> Bool {
    entries.contains { $0.isReleasable(durableEnd, oldestPin) }
  }

  /// Takes out what no view can see any more.
  ///
  /// - Parameters:
  ///   - durableEnd: Where the log is on disk up to: a commit beyond it may still be undone.
  ///   - oldestPin: The oldest commit that is being read.
  /// - Returns: The blobs whose files can go.
  mutating func takeReleasable(durableEnd: UInt64, oldestPin: UInt64) -> [BlobID] {
    var released: [BlobID] = []
    entries.removeAll { entry in
      guard entry.isReleasable(durableEnd, oldestPin) else { return false }
      released += entry.ids
      return true
    }
    count -= released.count
    return released
  }
}
