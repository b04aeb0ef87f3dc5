import Foundation
public import LogEngine

extension ToolError {
  /// Says what an engine's error means to the user of a command.
  ///
  /// The words are ``StorageError``'s own; a command adds what it alone knows: the store's path, where the error
  /// names none, and the exit status.
  public init(_ error: StorageError, at store: String) {
    if case .unexpectedFile(store, .directory, let found) = error {
      // The path itself, and nothing in a store: that is no damage.
      self.init(.notAStore(path: store, found: found.rawValue), at: store)
      return
    }
    let words = error.explanation
    self.init(
      words.what,
      place: words.place ?? store,
      expected: words.expected,
      found: words.found,
      advice: words.advice,
      status: error.exitStatus
    )
    if case .missingStore(let path) = error { found = Self.kind(of: path) }
  }

  private static func kind(of path: String) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return "nothing of that name"
    }
    return isFolder.boolValue ? "a folder without a store" : "a file"
  }
}

extension StorageError {
  fileprivate var exitStatus: ExitStatus {
    switch self {
    case .locked, .turnTimeout: .locked
    case .missingFile, .unexpectedFile, .corruption: .damaged
    default: .usage
    }
  }
}
