import Glibc
import Harness

/// Commits of the floor: rows gathered by `memcpy`, one `pwrite`, and `fdatasync` where it is due.
///
/// The bytes are as many as the engine writes for the same rows.
public final class FloorCommits {
  private let log: FloorLog
  private let row: UnsafeMutableRawBufferPointer
  private let buffer: UnsafeMutableRawBufferPointer
  private let rowsPerCommit: Int

  /// Prepares commits.
  ///
  /// - Parameters:
  ///   - log: The log that takes them.
  ///   - rowsPerCommit: The number of rows in each.
  ///   - bytesPerCommit: The number of bytes that the engine writes for one.
  public init(log: FloorLog, rowsPerCommit: Int, bytesPerCommit: Int) {
    self.log = log
    self.rowsPerCommit = rowsPerCommit
    row = .allocate(byteCount: max(1, bytesPerCommit / rowsPerCommit), alignment: 16)
    buffer = .allocate(byteCount: max(bytesPerCommit, row.count * rowsPerCommit), alignment: 16)
    for index in row.indices { row[index] = UInt8(truncatingIfNeeded: index &* 31) }
    buffer.copyBytes(from: repeatElement(0, count: buffer.count))
  }

  deinit {
    row.deallocate()
    buffer.deallocate()
  }

  /// Makes one commit that is on disk at return.
  ///
  /// - Throws: ``SystemCallError``.
  public func commitDurably() throws {
    try commit()
    try log.synchronize()
  }

  /// Makes one commit that the kernel has at return.
  ///
  /// - Throws: ``SystemCallError``.
  public func commit() throws {
    guard let source = row.baseAddress, let destination = buffer.baseAddress else { return }
    for index in 0..<rowsPerCommit {
      memcpy(destination + index * row.count, source, row.count)
    }
    try log.write(UnsafeRawBufferPointer(buffer))
  }
}
