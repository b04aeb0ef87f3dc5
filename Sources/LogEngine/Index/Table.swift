import RowFormat
package import Synchronization

/// What the engine keeps in memory of a table: where its rows are and how they are laid out.
package final class Table: Sendable {
  package let number: UInt16
  package let pages = IndexPages()
  /// How many rows the newest visible commit leaves.
  package let liveRowCount = Atomic<Int>(0)
  /// The next key to give out.
  package let nextKey = Atomic<UInt64>(1)
  /// The commit that removed the table; the greatest number while it stands.
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
