import Foundation
import LogEngine
import LogTools
import Terminal

/// A place that a user names for something to be written to: never in the folder of a store.
///
/// A page or a value there would replace a file of the store, if only by a mistake in the command line: a segment, or the lock
/// beside a process that writes. A copy would be a part of its original.
struct OutputPlace {
  private let path: String
  private let fileSystem: any FileSystem

  init(_ path: String, on fileSystem: any FileSystem) {
    self.path = StorePath.normalized(path)
    self.fileSystem = fileSystem
  }

  /// Refuses a place in the folder of any store, or that folder itself.
  ///
  /// - Throws: ``ToolError``, before anything is written.
  func checkIsOutsideOfStores() throws(ToolError) {
    if isStore(resolved) { throw refusal(of: resolved) }
    try checkFolders()
  }

  /// Refuses a place in the folder of any store, for a command that refuses the folder itself where something is in it.
  func checkFolders() throws(ToolError) {
    for folder in Self.folders(around: resolved) where isStore(folder) { throw refusal(of: folder) }
  }

  private func refusal(of store: String) -> ToolError {
    ToolError(
      "nothing can be written into the folder of a store",
      place: path,
      expected: "a place outside of \(store)",
      advice: "give another path; nothing was written"
    )
  }

  /// Whether anything in a folder looks like a store.
  private func isStore(_ folder: String) -> Bool {
    let inspection = StoreInspection(at: folder, fileSystem: fileSystem)
    // What cannot be listed can hardly be written to.
    guard let manifests = try? inspection.manifests() else { return false }
    return !manifests.isEmpty || (try? inspection.segments().isEmpty) == false
  }

  /// The path without links and points, as far as it exists.
  private var resolved: String {
    guard fileSystem is PosixFileSystem else { return path }
    let files = FileManager.default
    var existing = URL(filePath: path).absoluteURL.standardizedFileURL.path
    var missing: [String] = []
    var linkCount = 0
    while existing != "/", !files.fileExists(atPath: existing) {
      let parent = (existing as NSString).deletingLastPathComponent
      if linkCount < Self.linkLimit,
        let target = try? files.destinationOfSymbolicLink(atPath: existing)
      {
        // A link to what is not there yet: it would be made there.
        existing =
          URL(filePath: target, relativeTo: URL(filePath: parent + "/")).absoluteURL
          .standardizedFileURL.path
        linkCount += 1
      } else {
        missing.append((existing as NSString).lastPathComponent)
        existing = parent
      }
    }
    let start = URL(filePath: existing).resolvingSymlinksInPath().path
    return missing.reversed().reduce(start) { $0 == "/" ? "/" + $1 : $0 + "/" + $1 }
  }

  private static let linkLimit = 32

  /// The folders that a path leads through, the innermost first.
  private static func folders(around path: String) -> [String] {
    var folders: [String] = []
    var rest = path[...]
    while let slash = rest.lastIndex(of: "/") {
      rest = rest[..<slash]
      if !rest.isEmpty { folders.append(String(rest)) }
    }
    return folders
  }
}
