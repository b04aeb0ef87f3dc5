#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension StorageError {
  /// Want of room that came too late: something was under way that must not be tried again.
  package static func fullDevice(path: String, during operation: FileOperation) -> StorageError {
    .inputOutput(path: path, operation: operation, errno: ENOSPC)
  }
}
