import LogFormat

/// What scans of columns have read; see ``ReadView/scanColumns(_:_:where:in:tally:_:)``.
public final class ScanTally {
  /// Rows that were handed over, in blocks of packs and from the log.
  public internal(set) var rowCount = 0
  /// Blocks of packs that were visited; a block with rows in two key ranges counts twice.
  public internal(set) var blockCount = 0
  /// Blocks that were passed over, because their bounds say that no row is of interest.
  public internal(set) var prunedBlockCount = 0
  /// Bytes of the columns that were decoded, as they are stored; of rows in the log nothing is counted.
  public internal(set) var byteCount = 0

  /// Makes a tally of nothing.
  public init() {}

  /// Adds what another scan has read.
  package func add(_ other: ScanTally) {
    rowCount += other.rowCount
    blockCount += other.blockCount
    prunedBlockCount += other.prunedBlockCount
    byteCount += other.byteCount
  }
}
