import LogEngine
import RowFormat

/// The transactions that were deleted from the history of a store, though the log may still have them.
///
/// Kept in the store's catalogue under the key `history.deleted`, so that it is written, recovered, packed and
/// followed like everything there; a store that never deleted history has no such entry. Its numbers are
/// varints:
///
///     lowWaterMark  every transaction up to this one is deleted
///     count         the number of runs that follow
///     runs          for each: the gap between it and the previous one, and its length
package struct HistoryDeletions: Hashable {
  package static let key = "history.deleted"
  /// Limit, in bytes, of the entry's size: the catalogue is read whole at each opening.
  static let byteLimit = 64 << 10

  private(set) var lowWaterMark: UInt64 = 0
  /// The deleted runs above the low-water mark, ascending.
  private(set) var runs: [ClosedRange<UInt64>] = []

  /// Nothing is deleted.
  package init() {}

  func contains(_ number: UInt64) -> Bool {
    if number <= lowWaterMark { return true }
    let place = runs.partitionPoint { $0.upperBound < number }
    return place < runs.count && runs[place].contains(number)
  }
}

// MARK: Deleting

extension HistoryDeletions {
  /// Deletes everything up to a transaction.
  package mutating func delete(upTo number: UInt64) {
    lowWaterMark = max(lowWaterMark, number)
    runs.removeAll { $0.upperBound <= lowWaterMark }
  }

  /// Deletes single transactions, named one by one beside those that stay.
  ///
  /// What lies between two that stay and is deleted makes one run, commits without transactions included.
  struct Addition {
    private var deletions = HistoryDeletions()
    /// The runs deleted before that lie behind the transactions named so far.
    private var former: ArraySlice<ClosedRange<UInt64>>
    /// Whether a transaction stays that lies behind the last run.
    private var isRunEnded = false

    /// - Parameters:
    ///   - former: What is deleted already.
    ///   - oldest: The number up to which the log has no history any more.
    init(to former: HistoryDeletions, since oldest: UInt64) {
      deletions.lowWaterMark = former.lowWaterMark
      self.former = former.runs.filter { $0.upperBound > max(former.lowWaterMark, oldest) }[...]
    }

    /// Names the next transaction, which is deleted.
    mutating func delete(_ number: UInt64) {
      takeFormer(before: number)
      append(number...number)
    }

    /// Names the next transaction, which stays.
    mutating func keep(_ number: UInt64) {
      takeFormer(before: number)
      isRunEnded = true
    }

    /// Returns what is deleted, once all transactions were named.
    mutating func finish() -> HistoryDeletions {
      takeFormer(before: .max)
      return deletions
    }

    private mutating func takeFormer(before number: UInt64) {
      while let run = former.first, run.lowerBound < number {
        former.removeFirst()
        append(run)
      }
    }

    private mutating func append(_ run: ClosedRange<UInt64>) {
      if isRunEnded {
        deletions.runs.append(run)
      } else if let last = deletions.runs.popLast() {
        deletions.runs.append(last.lowerBound...max(last.upperBound, run.upperBound))
      } else {
        deletions.lowWaterMark = max(deletions.lowWaterMark, run.upperBound)
      }
      isRunEnded = false
    }
  }
}

// MARK: Codec

extension HistoryDeletions {
  init(in catalogue: Catalogue) {
    guard let bytes = catalogue.metadata[Self.key] else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      let bytes = unsafe bytes.bytes
      var cursor = ByteCursor(0..<bytes.byteCount)
      guard let lowWaterMark = cursor.varint(in: bytes), let count = cursor.varint(in: bytes) else {
        return
      }
      self.lowWaterMark = lowWaterMark
      var end = lowWaterMark
      for _ in 0..<min(count, UInt64(Self.byteLimit)) {
        guard let gap = cursor.varint(in: bytes), let length = cursor.varint(in: bytes) else {
          return
        }
        let start = end &+ gap
        end = start &+ length
        guard start <= end, start > lowWaterMark else { return }
        runs.append(start...end)
      }
    }
  }

  /// The entry of the catalogue.
  package var encoded: [UInt8] {
    var buffer = ByteBuffer()
    buffer.appendVarint(lowWaterMark)
    buffer.appendVarint(UInt64(runs.count))
    var end = lowWaterMark
    for run in runs {
      buffer.appendVarint(run.lowerBound - end)
      buffer.appendVarint(run.upperBound - run.lowerBound)
      end = run.upperBound
    }
    return unsafe buffer.bytes.withUnsafeBytes { unsafe Array($0) }
  }
}
