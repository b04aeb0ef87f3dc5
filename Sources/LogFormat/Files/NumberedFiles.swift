import RowFormat

/// Contents whose files are numbered: the one with the highest number is the newest.
package protocol NumberedContent {
  /// The name of a file that is still being written.
  static var temporaryName: String { get }
  /// Returns the directory of the files.
  static func directory(of paths: StorePaths) -> String
  /// Returns the path of the file with a number.
  static func path(of number: UInt64, in paths: StorePaths) -> String
  /// Returns the number in a file's name; `nil` for files of another kind.
  static func number(in name: String) -> UInt64?
}

/// The files of a store with one kind of numbered contents: manifests, or checkpoints.
package struct NumberedFiles<Content: NumberedContent> {
  package let paths: StorePaths
  package let fileSystem: any FileSystem
  package let synchronizes: Bool

  package init(paths: StorePaths, fileSystem: any FileSystem, synchronizes: Bool) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.synchronizes = synchronizes
  }

  /// Returns the numbers of the existing files, ascending.
  ///
  /// Names with numbers greater than a store can reach are ignored.
  package func numbers() throws(StorageError) -> [UInt64] {
    let names = try fileSystem.list(Content.directory(of: paths)) ?? []
    return names.compactMap(Content.number(in:)).filter { $0 <= NumberLimit.readable }.sorted()
  }

  /// The path of the file while it is being written, before it gets its number.
  var temporary: String { paths.temporary(Content.temporaryName) }

  /// Removes the file that did not get its number; a full device needs the space.
  package func discardFile() { try? fileSystem.unlink(temporary) }

  /// Gives a complete file its number, and synchronizes the directory.
  func moveIntoPlace(_ number: UInt64) throws(StorageError) {
    try fileSystem.rename(temporary, to: Content.path(of: number, in: paths))
    try fileSystem.synchronizeDirectory(Content.directory(of: paths))
  }
}
