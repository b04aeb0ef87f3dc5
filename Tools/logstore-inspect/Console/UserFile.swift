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

  /// All its bytes.
  func contents() throws(ToolError) -> [UInt8] {
    do throws(StorageError) {
      // A link is a convenience to a user, and an intruder's way in to a store: only here one is followed.
      return try bytes(of: try fileSystem.open(try fileSystem.resolvingLink(path), .read))
    } catch {
      throw toolError(error, whileTryingTo: .read)
    }
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

  /// Makes the file, in place of one of that name.
  func create() throws(ToolError) -> any OpenFile {
    do throws(StorageError) {
      return try fileSystem.open(path, .create)
    } catch {
      throw toolError(error, whileTryingTo: .make)
    }
  }

  /// Makes the folder, if it is not there.
  func createFolder() throws(ToolError) {
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
    var words = ToolError(error, at: path)
    if words.status == .damaged {
      words.what = "that cannot be \(use == .read ? "read" : "made")"
      words.advice = nil
      words.status = .usage
    }
    return words
  }
}
