import LogFormat
import RowFormat

/// The blobs that commits took from their rows, until their files can be removed.
struct RetiredBlobs: Sendable {
  private struct Entry {
    let ids: [BlobID]
    /// The commit that took the blobs.
    let sequence: UInt64
    /// The end of the log once that commit was written.
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

  /// Whether there is a blob that no view can see any more; see ``takeReleasable(durableEnd:oldestPin:)``.
  func hasReleasable(durableEnd: UInt64, oldestPin: UInt64) -> Bool {
    entries.contains { $0.isReleasable(durableEnd, oldestPin) }
  }

  /// Removes and returns the blobs that no view can see any more.
  ///
  /// - Parameters:
  ///   - durableEnd: The durable end of the log: a commit beyond it may still be undone.
  ///   - oldestPin: The oldest pinned commit.
  /// - Returns: The blobs whose files can be removed.
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
