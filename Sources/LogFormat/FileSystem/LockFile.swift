import RowFormat

/// The text in a locked file that describes the holder, for people.
///
/// Only the lock counts. The text may describe a process that is long gone.
package struct LockFile {
  private let path: String
  private let fileSystem: any FileSystem

  /// Limit of the holder's description, in bytes.
  package static let holderByteCount = 256

  package init(_ path: String, _ fileSystem: any FileSystem) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// Returns the description of the last holder; `nil` if there is none.
  package func holder(at offset: Int = 0) throws(StorageError) -> String? {
    let bytes = try fileSystem.open(path, .read).readBytes(LockFile.holderByteCount, at: offset)
    var text: [UInt8] = []
    for offset in 0..<bytes.count {
      let byte = bytes.load(UInt8.self, at: offset)
      if byte == 0 || byte == UInt8(ascii: "\n") { break }
      text.append(byte)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  package func write(holder: String, at offset: Int = 0) throws(StorageError) {
    var bytes = ByteBuffer(capacity: LockFile.holderByteCount)
    for byte in holder.utf8.prefix(LockFile.holderByteCount - 2) { bytes.append(byte) }
    bytes.append(UInt8(ascii: "\n"))
    bytes.appendZeros(LockFile.holderByteCount - bytes.count)
    try bytes.write(to: try fileSystem.open(path, .write), at: offset)
  }
}
