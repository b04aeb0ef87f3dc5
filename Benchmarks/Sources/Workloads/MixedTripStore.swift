/// A store of trips that takes part in mixes of reads and changes.
public protocol MixedTripStore: TripStore {
  /// Reads records in the order of their keys, all attributes decoded.
  ///
  /// - Parameters:
  ///   - count: The number of records.
  ///   - first: The key of the first.
  /// - Returns: The checksums of them, added up.
  /// - Throws: What the contender reports.
  func read(_ count: Int, from first: UInt64) throws -> Int

  /// Replaces every attribute of some records, in one commit.
  ///
  /// - Parameter records: The new records; their identifiers are the keys, ascending.
  /// - Throws: What the contender reports.
  func overwrite(_ records: ArraySlice<TripRecord>) throws
}
