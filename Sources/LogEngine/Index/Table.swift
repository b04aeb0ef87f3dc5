import RowFormat
package import Synchronization

/// The engine's state of a table in memory: the locations and layouts of its rows.
package final class Table: Sendable {
  package let number: UInt16
  package let pages = IndexPages()
  /// The number of rows as of the newest visible commit.
  package let liveRowCount = Atomic<Int>(0)
  /// The next key to reserve.
  package let nextKey = Atomic<UInt64>(1)
  /// The newest commit since the store was opened that has records of the table; stored before the commit is visible.
  let newestChange = Atomic<UInt64>(0)
  /// The commit that removed the table; the greatest number while the table exists.
  let removedAt = Atomic<UInt64>(.max)
  /// Whether a layout has a column whose values may be in side files.
  let mayOwnBlobs = Atomic<Bool>(false)
  /// The layouts, by number.
  package let layouts = PublishedArray<RowLayout>()

  package init(number: UInt16) { self.number = number }

  /// Records that a key is in use.
  package func recordKey(_ key: UInt64) {
    var next = nextKey.load(ordering: .relaxed)
    while next <= key {
      let (exchanged, original) = nextKey.weakCompareExchange(
        expected: next,
        desired: key + 1,
        ordering: .relaxed
      )
      if exchanged { return }
      next = original
    }
  }
}
