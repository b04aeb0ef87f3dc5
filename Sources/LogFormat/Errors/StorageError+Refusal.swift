import LibC

extension StorageError {
  /// Whether something could not be opened, for want of descriptors say: what was to be done with it was not attempted,
  /// and may succeed later.
  package var isRefusedOpening: Bool {
    if case .inputOutput(_, .open, _) = self { true } else { false }
  }

  /// Whether the system had no room, or no means to open something, and refused before it did anything.
  package var isRefusal: Bool {
    if case .noSpace = self { true } else { isRefusedOpening }
  }

  /// Want of room that came too late: something was under way that must not be tried again.
  package static func fullDevice(path: String, during operation: FileOperation) -> StorageError {
    .inputOutput(path: path, operation: operation, errno: ENOSPC)
  }
}
