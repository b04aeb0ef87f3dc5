package import LogEngine

/// A file system that does not synchronize what it should: a fault planted to see that it is found.
package struct ForgetfulFileSystem: ForwardingFileSystem {
  package let base: any FileSystem
  /// What the paths have in them whose files, or directories, are not synchronized.
  private let part: String

  package init(_ base: any FileSystem, forgetting part: String) {
    self.base = base
    self.part = part
  }

  package func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let file = try base.open(path, mode)
    return path.contains(part) ? ForgetfulFile(file) : file
  }
  package func synchronizeDirectory(_ path: String) throws(StorageError) {
    if !path.contains(part) { try base.synchronizeDirectory(path) }
  }
}

private final class ForgetfulFile: OpenFile {
  private let base: any OpenFile
  init(_ base: any OpenFile) { self.base = base }

  var path: String { base.path }
  func size() throws(StorageError) -> Int { try base.size() }
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    try base.read(into: &buffer, at: offset)
  }
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    try base.write(bytes, at: offset)
  }
  func synchronize() throws(StorageError) {}
  func allocate(_ size: Int) throws(StorageError) { try base.allocate(size) }
  func setSize(_ size: Int) throws(StorageError) { try base.setSize(size) }
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    try base.map(count, kind)
  }
  func willRead(_ range: Range<Int>) { base.willRead(range) }
}
