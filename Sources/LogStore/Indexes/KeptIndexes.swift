package import Synchronization

/// Which indexes are kept, and how far words may be behind.
package enum KeptIndexes {
  /// The least entries, or rows with words, that are worth a file; fewer are found by a scan in no time.
  ///
  /// Simulations lower it.
  package static let smallestCount = Atomic(1024)
  /// The most changed rows whose words are not read: each is a candidate of every search.
  ///
  /// Simulations lower it.
  package static let mostPendingWords = Atomic(32)

  /// Lowers both, so that stores of a few rows do what large ones do.
  package static func simulate() {
    smallestCount.store(1, ordering: .relaxed)
    mostPendingWords.store(2, ordering: .relaxed)
  }
}
