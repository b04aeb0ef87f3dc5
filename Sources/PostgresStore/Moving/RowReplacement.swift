#if PostgreSQL
package import RowFormat

/// The outcome for rows that were read again at the source and replaced at the target.
package struct RowReplacement: Sendable {
  /// The rows that the target had.
  package var removed = RowDigest()
  /// The rows that the source has.
  package var sent = RowDigest()
  /// The rows that the target now has under the same keys.
  package var found = RowDigest()
  /// Rows that could not be read, because the app has changed them since.
  package var skipped: [RowReference] = []

  package init() {}
}

/// Says that a value was removed by an app that still writes: its row has changed since, and is read again.
package struct VanishedValue: Error {
  package init() {}
}
#endif
