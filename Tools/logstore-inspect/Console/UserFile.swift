import LogEngine
import Terminal

/// A file that a user names: its faults are no damage of a store.
struct UserFile {
  let path: String
  private let fileSystem: any FileSystem

  init(path: String, in console: Console) { self.init(path: path, on: console.fileSystem) }

  init(path: String, on fileSystem: any FileSystem) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// All its bytes, which may come out of a pipe.
  func contents() throws(ToolError) -> [UInt8] {
    do throws(StorageError) {
      // A link is a convenience to a user, and an intruder's way in to a store: only here one is followed.
      let target = try fileSystem.resolvingLink(path)
      // To open a pipe only to see what it is would end a program that waits to write into it. A shell's name for one is a link
      // that leads to no other name.
      let kind = try fileSystem.status(of: target)?.kind
      if fileSystem is PosixFileSystem, kind == .pipe || kind == .link {
        return try pipedContents()
      }
      return try bytes(of: try fileSystem.open(target, .read))
    } catch .unexpectedFile(_, _, let found) where fileSystem is PosixFileSystem {
      throw ToolError(
        "that cannot be read",
        place: path,
        expected: "a file or a pipe",
        found: found == .link ? "a link to something else" : found.rawValue
      )
    } catch {
      throw toolError(error, whileTryingTo: .read)
    }
  }

  /// All that comes out of a pipe, or out of an open file that has no name any more.
  private func pipedContents() throws(StorageError) -> [UInt8] {
    var found = FileKind.link
    if let bytes = InputPipe.contents(of: path, found: &found) { return bytes }
    if !InputPipe.exists(path) { throw .missingFile(path: path) }
    throw .unexpectedFile(path: path, expected: .file, found: found)
  }

  private func bytes(of file: any OpenFile) throws(StorageError) -> [UInt8] {
    let size = try file.size()
    var bytes = [UInt8](repeating: 0, count: size)
    var offset = 0
    while offset < size {
      var piece = [UInt8](repeating: 0, count: min(size - offset, 1 << 24))
      var span = piece.mutableSpan
      var room = span.mutableBytes
      let count = try file.read(into: &room, at: offset)
      if count == 0 { break }
      bytes.replaceSubrange(offset..<(offset + count), with: piece[..<count])
      offset += count
    }
    return Array(bytes[..<offset])
  }

  /// Makes the file, in place of one of that name; never in the folder of a store.
  func create() throws(ToolError) -> any OpenFile {
    try OutputPlace(path, on: fileSystem).checkIsOutsideOfStores()
    do throws(StorageError) {
      return try fileSystem.open(path, .create)
    } catch {
      throw toolError(error, whileTryingTo: .make)
    }
  }

  /// Makes the folder, if it is not there; never in the folder of a store.
  func createFolder() throws(ToolError) {
    try OutputPlace(path, on: fileSystem).checkIsOutsideOfStores()
    do throws(StorageError) {
      try fileSystem.makeDirectory(path)
    } catch {
      throw toolError(error, whileTryingTo: .make)
    }
  }

  private enum Use { case read, make }

  /// The error, in words about a file of the user's own.
  private func toolError(_ error: StorageError, whileTryingTo use: Use) -> ToolError {
    if case .missingFile = error {
      return switch use {
      case .read: ToolError("there is no such file", place: path, advice: "check the path")
      case .make:
        ToolError("the folder around it is missing", place: path, advice: "check the path")
      }
    }
    return use == .read
      ? ToolError(error, at: path, "that cannot be read")
      : ToolError(error, writing: path)
  }
}

extension ToolError {
  /// Says why a file of the user's own cannot be written.
  init(_ error: StorageError, writing path: String) {
    self.init(error, at: path, "that cannot be made")
  }

  /// Says why a file of the user's own cannot be used; its faults are no damage of a store.
  fileprivate init(_ error: StorageError, at path: String, _ whatIfDamaged: String) {
    self.init(error, at: path)
    if case .noSpace = error { advice = "make room and try again" }
    guard status == .damaged else { return }
    what = whatIfDamaged
    advice = nil
    status = .usage
  }
}
