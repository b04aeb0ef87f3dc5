import LibC

extension StorageError {
  /// Whether a file could not be opened, for lack of descriptors for instance: the operation was not attempted, and may succeed
  /// later.
  package var isRefusedOpening: Bool {
    if case .inputOutput(_, .open, _) = self { true } else { false }
  }

  /// Whether the system had no room, or no means to open a file, and refused before doing anything.
  package var isRefusal: Bool {
    if case .noSpace = self { true } else { isRefusedOpening }
  }

  /// Lack of room that was detected too late: during an operation that must not be tried again.
  package static func fullDevice(path: String, during operation: FileOperation) -> StorageError {
    .inputOutput(path: path, operation: operation, errno: ENOSPC)
  }
}
