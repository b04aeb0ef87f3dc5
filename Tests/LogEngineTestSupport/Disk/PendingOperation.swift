/// Something a program did that a power cut may still undo, wholly or in part.
package struct PendingOperation: Sendable {
  package enum Effect: Sendable {
    /// Bytes written to a file.
    case write(FileNumber, offset: Int, bytes: [UInt8])
    /// A file cut off or extended.
    case resize(FileNumber, size: Int)
    /// Names changed in one directory, all of them or none.
    case names([NameChange], directory: String)
  }

  package var effect: Effect

  /// The file whose bytes or size it changes; `nil` if it changes names.
  var file: FileNumber? {
    switch effect {
    case .write(let file, _, _), .resize(let file, _): file
    case .names: nil
    }
  }

  /// The sectors a write touches, in part or whole; 0 for anything else.
  package var sectorCount: Int {
    guard case .write(_, let offset, let bytes) = effect, !bytes.isEmpty else { return 0 }
    return (offset + bytes.count - 1) / sectorByteCount - offset / sectorByteCount + 1
  }
}

/// What a disk writes whole or not at all.
package let sectorByteCount = 512

/// Tells a file from all others, whatever its names.
package typealias FileNumber = Int

/// What a name stands for.
package enum Entry: Hashable, Sendable {
  case file(FileNumber)
  case directory
}

/// A name that from now on stands for something else, or for nothing.
package struct NameChange: Sendable {
  package var path: String
  package var entry: Entry?
}
