import LogFormat

/// Counts of the data that column scans have read; see ``ReadView/scanColumns(_:_:where:in:tally:_:)``.
public final class ScanTally {
  /// The number of rows visited, in blocks of packs and from the log.
  public internal(set) var rowCount = 0
  /// The number of blocks visited; a block with rows in two key ranges counts twice.
  public internal(set) var blockCount = 0
  /// The number of blocks skipped, because their bounds rule out every row of interest.
  public internal(set) var prunedBlockCount = 0
  /// The stored size of the columns decoded, in bytes; rows in the log are not counted.
  public internal(set) var byteCount = 0

  /// Creates an empty tally.
  public init() {}

  /// Adds the counts of another scan.
  package func add(_ other: ScanTally) {
    rowCount += other.rowCount
    blockCount += other.blockCount
    prunedBlockCount += other.prunedBlockCount
    byteCount += other.byteCount
  }
}
