import Glibc
import Harness

/// The least a log can do: bytes into a file that is already written, and `fdatasync`.
///
/// The file is filled with zeros beforehand, as the engine's segments are, because a commit into a
/// growing file pays for the file system's journal too. It is filled in pages: on kernels that keep a
/// file's cache in large folios, later writes of 200 bytes would otherwise walk a megabyte each.
public final class FloorLog {
  /// The settings of the floor, in words.
  public static let settings = "pwrite into a file filled with zeros; fdatasync where durable"

  private let descriptor: CInt
  private let capacity: Int
  private var offset = 0

  /// Creates the file and fills it.
  ///
  /// - Parameters:
  ///   - path: The path; a new file.
  ///   - capacity: Its size; beyond it the log starts over.
  /// - Throws: ``SystemCallError`` of the call that failed.
  public init(path: String, capacity: Int = 64 << 20) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    self.capacity = capacity
    guard descriptor >= 0 else { throw SystemCallError("open") }
    let page = [UInt8](repeating: 0, count: 4096)
    for start in stride(from: 0, to: capacity, by: page.count) {
      guard pwrite(descriptor, page, page.count, off_t(start)) == page.count else {
        throw SystemCallError("pwrite")
      }
    }
    guard fsync(descriptor) == 0 else { throw SystemCallError("fsync") }
  }

  deinit { close(descriptor) }

  /// Writes bytes after those before.
  ///
  /// - Parameter bytes: The bytes; no more than the capacity.
  /// - Throws: ``SystemCallError`` if the kernel does not take all.
  public func write(_ bytes: UnsafeRawBufferPointer) throws {
    if offset + bytes.count > capacity { offset = 0 }
    guard pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count else {
      throw SystemCallError("pwrite")
    }
    offset += bytes.count
  }

  /// Waits until what was written is on disk.
  ///
  /// - Throws: ``SystemCallError`` if it may not be.
  public func synchronize() throws {
    guard fdatasync(descriptor) == 0 else { throw SystemCallError("fdatasync") }
  }
}
