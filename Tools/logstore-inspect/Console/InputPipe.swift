import Foundation
import LogEngine

/// Reads what is behind a path of the user's that names no regular file: `/dev/stdin`, the output of a command that the
/// shell has a name for, `<(…)`, or a named pipe.
///
/// A store has no such files, and its file system opens none: see ``/LogFormat/FileSystem``.
enum InputPipe {
  /// Whether a path leads to anything, through links, too.
  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Reads all there is, and waits for its end.
  ///
  /// - Parameters:
  ///   - path: The path. Standard input may also be a regular file, which was removed since.
  ///   - found: What is there instead, if that is known.
  /// - Returns: The bytes; `nil` if the path leads neither to a pipe nor to a file, or if it cannot be read.
  static func contents(of path: String, found: inout FileKind) -> [UInt8]? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    var status = stat()
    guard fstat(handle.fileDescriptor, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFIFO: return (try? handle.readToEnd() ?? Data()).map { Array($0) }
    case S_IFDIR: found = .directory
    case S_IFSOCK: found = .socket
    default: found = .device
    }
    return nil
  }
}
