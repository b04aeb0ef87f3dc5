import RowFormat

/// Finding the checkpoints there are, and putting a new one beside them.
package struct CheckpointFiles {
  package let paths: StorePaths
  package let fileSystem: any FileSystem
  package let synchronizes: Bool

  package init(paths: StorePaths, fileSystem: any FileSystem, synchronizes: Bool) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.synchronizes = synchronizes
  }

  /// The numbers of the checkpoints there are, ascending.
  package func numbers() throws(StorageError) -> [UInt64] {
    let names = try fileSystem.list(paths.index) ?? []
    return names.compactMap { StorePaths.number(in: $0, suffix: StorePaths.checkpointSuffix) }
      .sorted()
  }

  /// A file that is no checkpoint yet.
  package func makeFile() throws(StorageError) -> any OpenFile {
    try fileSystem.open(paths.temporary("checkpoint"), .create)
  }

  /// Removes the file that did not become a checkpoint; a full device needs the space.
  package func discardFile() {
    try? fileSystem.unlink(paths.temporary("checkpoint"))
  }

  /// Gives a file that is complete its name, once it is on disk.
  package func publish(_ file: any OpenFile, number: UInt64) throws(StorageError) {
    if synchronizes { try file.synchronize() }
    try fileSystem.rename(paths.temporary("checkpoint"), to: paths.checkpoint(number))
    try fileSystem.synchronizeDirectory(paths.index)
  }

  /// Removes all checkpoints but these.
  ///
  /// What cannot be removed costs space and nothing else, and is tried again after the next one.
  package func removeAll(but kept: [UInt64]) {
    guard let numbers = try? numbers() else { return }
    for number in numbers where !kept.contains(number) {
      try? fileSystem.unlink(paths.checkpoint(number))
    }
  }
}
