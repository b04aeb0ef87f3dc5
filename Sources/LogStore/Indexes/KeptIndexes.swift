package import Synchronization

/// The thresholds for keeping indexes in files, and for reading the words of changed rows.
package enum KeptIndexes {
  /// The least entries, or rows with words, that are worth a file; fewer are found by a scan in no time.
  ///
  /// Simulations lower it.
  package static let smallestCount = Atomic(1024)
  /// The most changed rows whose words are not read: each is a candidate of every search.
  ///
  /// Simulations lower it.
  package static let mostPendingWords = Atomic(32)

  /// Number of commits from one after which indexes are written to the next, beside the background's own times; 0 for
  /// never.
  ///
  /// For simulations, which have no time.
  package static let commitsToWriting = Atomic(0)

  /// Whether indexes are written after a commit.
  static func areWritten(after sequence: UInt64) -> Bool {
    let count = commitsToWriting.load(ordering: .relaxed)
    return count > 0 && sequence.isMultiple(of: UInt64(count))
  }

  /// Lowers all, so that stores of a few rows do what large ones do.
  package static func simulate() {
    smallestCount.store(1, ordering: .relaxed)
    mostPendingWords.store(2, ordering: .relaxed)
    commitsToWriting.store(3, ordering: .relaxed)
  }
}
