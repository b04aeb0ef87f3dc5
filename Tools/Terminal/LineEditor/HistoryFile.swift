import Foundation

/// The file that keeps the lines of a command for its next run: readable by its owner alone.
///
/// A history is a convenience: if the file cannot be read or written, there is none, without an error.
public struct HistoryFile: Sendable {
  private let path: String

  public init(path: String) { self.path = path }

  /// The file of a program: in `$XDG_STATE_HOME`, or else in `~/.local/state`; `nil` without a home.
  public init?(of program: String, environment: [String: String]) {
    let folder: String
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      folder = state
    } else if let home = environment["HOME"], home.hasPrefix("/") {
      folder = home + "/.local/state"
    } else {
      return nil
    }
    self.init(path: "\(folder)/\(program)/history")
  }

  /// Reads the file; one that is not there or not readable is empty.
  public func read() -> LineHistory {
    guard let data = FileManager.default.contents(atPath: path) else { return LineHistory() }
    return LineHistory(text: String(decoding: data, as: UTF8.self))
  }

  /// Adds a line to what is in the file by now: other shells may have added theirs.
  public func add(_ line: String) {
    var history = read()
    history.add(line)
    let folder = (path as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(
      atPath: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    // A new file replaces the old one, so that a reader sees either of them whole.
    let copy = "\(path).\(getpid())"
    unlink(copy)
    let descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try file.write(contentsOf: Data(history.text.utf8))
      try file.close()
      if rename(copy, path) != 0 { unlink(copy) }
    } catch {
      unlink(copy)
    }
  }
}
