import LogFormat
import RowFormat

/// Writes a checkpoint's file: the pages as they are copied, then the metadata, the header last.
struct CheckpointWriter: ~Copyable {
  private let state: StoreState
  private let file: any OpenFile
  private var checkpoint: Checkpoint
  private let pieceByteCount: Int
  /// The salt of the header.
  let salt: UInt64
  private var buffer: ByteBuffer
  private var written = FileHeader.byteCount

  /// Default size of a write, in bytes: the memory that a checkpoint takes beside the pages.
  static let pieceByteCount = 128 << 10
  /// The number of bytes written between two pauses.
  private static let pauseByteCount = 8 << 20

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - checkpoint: The contents except the pages.
  ///   - state: The store whose pages are written.
  ///   - file: The file; empty.
  ///   - pieceByteCount: The size of a write, in bytes.
  init(
    _ checkpoint: Checkpoint,
    of state: StoreState,
    to file: any OpenFile,
    pieceByteCount: Int
  ) {
    self.checkpoint = checkpoint
    self.state = state
    self.file = file
    self.pieceByteCount = pieceByteCount
    salt = state.fileSystem.randomBits()
    buffer = ByteBuffer(capacity: pieceByteCount)
  }

  /// Copies the pages of all tables, while others may change them.
  ///
  /// - Parameter pause: Called every few milliseconds, for work that cannot wait until all pages are written.
  /// - Throws: ``StorageError`` if the file cannot be written.
  mutating func writePages(_ pause: () -> Void) throws(StorageError) {
    var pausedAt = written
    for index in checkpoint.tables.indices {
      guard let table = state.tables[Int(checkpoint.tables[index].number)] else { continue }
      for number in table.pages.pageNumbers {
        let start = buffer.count
        table.pages.appendPage(number, to: &buffer)
        let checksum = CRC32C.extend(0, over: buffer.bytes.extracting(start..<buffer.count))
        checkpoint.tables[index].pages.append(.init(number: number, checksum: checksum))
        if buffer.count >= pieceByteCount { try flush() }
        if written - pausedAt >= Self.pauseByteCount {
          pause()
          pausedAt = written
        }
      }
    }
    try flush()
  }

  /// Writes the metadata and the header, which make the pages a checkpoint.
  ///
  /// - Parameter durableEnd: The durable end of the log after the last page was copied.
  /// - Returns: The size of the file, in bytes.
  /// - Throws: ``StorageError`` if the file cannot be written.
  mutating func finish(durableEnd: UInt64) throws(StorageError) -> Int {
    checkpoint.durableEnd = durableEnd
    let start = written
    checkpoint.encodeMetadata(into: &buffer)
    let extent = CheckpointExtent(of: buffer.bytes, at: start)
    try flush()
    let header = FileHeader(
      kind: .checkpoint,
      store: checkpoint.store,
      number: checkpoint.number,
      salt: salt,
      created: state.fileSystem.microseconds()
    )
    header.encode(into: &buffer) { extent.encode(into: &$0) }
    try buffer.write(to: file, at: 0)
    return written
  }

  private mutating func flush() throws(StorageError) {
    try buffer.write(to: file, at: written)
    written += buffer.count
    buffer.removeAll()
  }
}
