import RowFormat

extension Checkpoint: NumberedContent {
  package static var temporaryName: String { "checkpoint" }
  package static func directory(of paths: StorePaths) -> String { paths.index }
  package static func path(of number: UInt64, in paths: StorePaths) -> String {
    paths.checkpoint(number)
  }
  package static func number(in name: String) -> UInt64? {
    StorePaths.number(in: name, suffix: StorePaths.checkpointSuffix)
  }
}

/// Finds a store's checkpoints, publishes new ones and removes old ones.
package typealias CheckpointFiles = NumberedFiles<Checkpoint>

extension NumberedFiles where Content == Checkpoint {
  /// Creates the file of a checkpoint that is about to be written.
  package func makeFile() throws(StorageError) -> any OpenFile {
    try fileSystem.open(temporary, .create)
  }

  /// Synchronizes a complete file and publishes it under its number.
  package func publish(_ file: any OpenFile, number: UInt64) throws(StorageError) {
    if synchronizes { try file.synchronize() }
    try moveIntoPlace(number)
  }

  /// Removes all checkpoints but these.
  ///
  /// A file that cannot be removed costs nothing but its space; the next call tries again.
  package func removeAll(but kept: [UInt64]) {
    guard let numbers = try? numbers() else { return }
    for number in numbers where !kept.contains(number) {
      try? fileSystem.unlink(paths.checkpoint(number))
    }
  }
}
