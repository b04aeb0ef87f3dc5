import Glibc

/// The least that values in files of their own cost: each written under a name of its own, on disk, and
/// renamed; the folder synchronized once for a handful of them.
public final class FloorFiles {
  /// The settings of the floor, in words.
  public static let settings =
    "write, fdatasync, rename for each value; fsync of the folder for ten"

  private let folder: String
  private let descriptor: CInt
  private var count = 0

  /// Prepares files.
  ///
  /// - Parameter folder: The folder; it exists.
  /// - Throws: ``SystemCallError`` if it cannot be opened.
  public init(in folder: String) throws {
    self.folder = folder
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemCallError("open") }
  }

  deinit { close(descriptor) }

  /// Writes a value into a new file.
  ///
  /// - Parameter bytes: The value; less than 2 GiB.
  /// - Throws: ``SystemCallError`` of the call that failed.
  public func write(_ bytes: UnsafeRawBufferPointer) throws {
    let name = "\(folder)/\(count)"
    count += 1
    let file = open("\(name).new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemCallError("open") }
    defer { close(file) }
    guard pwrite(file, bytes.baseAddress, bytes.count, 0) == bytes.count else {
      throw SystemCallError("pwrite")
    }
    guard fdatasync(file) == 0 else { throw SystemCallError("fdatasync") }
    guard rename("\(name).new", name) == 0 else { throw SystemCallError("rename") }
  }

  /// Waits until the names are on disk.
  ///
  /// - Throws: ``SystemCallError`` if they may not be.
  public func synchronize() throws {
    guard fsync(descriptor) == 0 else { throw SystemCallError("fsync") }
  }
}
