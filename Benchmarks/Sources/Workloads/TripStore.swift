/// A store of trips by key, as thin over a contender's own calls as can be.
public protocol TripStore: AnyObject {
  /// Announces the records that are about to be read or raised, before the clock is read: a contender that names them by
  /// something other than their keys finds the names now, as an app would have them at hand.
  ///
  /// - Parameter keys: Their keys.
  /// - Throws: What the contender reports.
  func prepare(_ keys: ArraySlice<UInt64>) throws

  /// Adds records in one commit.
  ///
  /// - Parameters:
  ///   - records: The records to add; their own keys do not count.
  ///   - firstKey: The key of the first; the others follow.
  /// - Throws: What the contender reports.
  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws

  /// Reads one record.
  ///
  /// - Parameter key: Its key.
  /// - Returns: The checksum of all its attributes, each decoded into what Swift works with.
  /// - Throws: What the contender reports.
  func read(_ key: UInt64) throws -> Int

  /// Reads records, raises their ratings by one, and writes them, in one commit.
  ///
  /// - Parameter keys: Their keys.
  /// - Throws: What the contender reports.
  func raiseRatings(_ keys: ArraySlice<UInt64>) throws

  /// Counts the trips to a destination with a rating above another, by looking at every record.
  func count(destination: String, ratingAbove rating: Int64) throws -> Int

  /// Reads the records that start first, by looking at every record.
  ///
  /// - Parameter count: The number of records.
  /// - Returns: The checksums of them, added up.
  /// - Throws: What the contender reports.
  func readEarliest(_ count: Int) throws -> Int

  /// Reads the first records in the order of their keys, all attributes decoded.
  ///
  /// - Parameter count: The number of records.
  /// - Returns: The checksums of them, added up.
  /// - Throws: What the contender reports.
  func readFirst(_ count: Int) throws -> Int

  /// Brings the files to the least size the contender offers by itself.
  ///
  /// - Returns: Whether it offers anything.
  /// - Throws: What the contender reports.
  func compact() throws -> Bool

  /// Another way into the open store, for a thread of its own.
  ///
  /// - Returns: The store, or a connection to it; to be closed before this one is.
  /// - Throws: What the contender reports.
  func makeHandle() throws -> any TripStore

  /// Writes out what is not yet, and closes.
  func close() throws
}

extension TripStore {
  public func prepare(_ keys: ArraySlice<UInt64>) throws {}

  public func compact() throws -> Bool { false }
}
