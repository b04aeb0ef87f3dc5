import Foundation
import Synchronization

/// Lets the stores of a process that have one file read and write it one at a time.
///
/// A save reads the file, changes what it read, and writes it: two that did so at once would lose one of them.
final class ArchiveGate: Sendable {
  private let path: String
  private let turn = Mutex<Void>(())

  /// The gates of the files that are open, by path.
  private static let open = Mutex<[String: Entry]>([:])

  private struct Entry: Sendable {
    weak var gate: ArchiveGate?
  }

  private init(path: String) { self.path = path }

  /// The gate of a file, whichever way its path is written.
  static func of(_ url: URL) -> ArchiveGate {
    let path = canonicalPath(of: url)
    return open.withLock { open in
      if let known = open[path]?.gate { return known }
      let gate = ArchiveGate(path: path)
      open[path] = Entry(gate: gate)
      return gate
    }
  }

  deinit {
    // Another store may have opened the file in the meantime. This may become the last reference to its gate, whose
    // deinitializer needs the lock too: so it is let go of afterwards.
    let successor = Self.open.withLock { open -> ArchiveGate? in
      let known = open[path]?.gate
      if known == nil { open[path] = nil }
      return known
    }
    withExtendedLifetime(successor) {}
  }

  /// Waits for the others, and then does something with the file.
  func pass<Result>(_ body: () throws -> Result) rethrows -> Result {
    try turn.withLock { _ in try body() }
  }

  /// The path without symbolic links; the file itself may not be there yet.
  private static func canonicalPath(of url: URL) -> String {
    let url = url.standardizedFileURL
    if FileManager.default.fileExists(atPath: url.path) {
      return url.resolvingSymlinksInPath().path
    }
    return url.deletingLastPathComponent().resolvingSymlinksInPath()
      .appending(path: url.lastPathComponent).path
  }
}
