import Foundation
import Harness
import PeerStores

/// This program again, in a process of its own: for figures that only a whole process has, such as its peak of
/// memory, or the remains when it is killed.
enum Child {
  /// The task of a child.
  enum Task: String {
    /// Fill a store, read it, scan it, close it, open it; print the figures.
    case live
    /// Add rows to a store, say so, and wait to be killed.
    case writeUntilKilled
  }

  static let ready = "ready"

  /// Does a child's task and ends the process, if this process is a child.
  static func runIfAsked() {
    let arguments = CommandLine.arguments
    guard arguments.count == 6, arguments[1] == "--child", let task = Task(rawValue: arguments[2]),
      let rows = Int(arguments[4]),
      let peer = Peer.all.first(where: { $0.contender.rawValue == arguments[3] })
    else { return }
    let folder = URL(fileURLWithPath: arguments[5])
    do {
      switch task {
      case .live: try Life(peer: peer, rows: rows, folder: folder).run()
      case .writeUntilKilled: try UnfinishedWriter(peer: peer, rows: rows, folder: folder).run()
      }
      exit(0)
    } catch {
      FileHandle.standardError.write(Data("error: \(peer.contender.rawValue): \(error)\n".utf8))
      exit(1)
    }
  }

  /// Lets a child live to its end.
  ///
  /// - Parameters:
  ///   - peer: The peer whose store it is.
  ///   - rows: The number of rows it is to hold.
  ///   - folder: The folder; a new one.
  /// - Returns: The figures, by name.
  /// - Throws: ``PeerError`` if the child fails.
  static func live(_ peer: Peer, rows: Int, in folder: URL) throws -> [String: Double] {
    let (process, output) = try start(.live, peer, rows, folder)
    let data = output.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PeerError(peer.contender, "a child failed") }
    return try JSONDecoder().decode([String: Double].self, from: data)
  }

  /// Lets a child add rows to a store, and kills it before it can close.
  ///
  /// - Parameters:
  ///   - peer: The peer whose store it is.
  ///   - rows: The number of rows that the store holds already.
  ///   - folder: The store.
  /// - Throws: ``PeerError`` if the child dies by itself.
  static func writeAndKill(_ peer: Peer, rows: Int, in folder: URL) throws {
    let (process, output) = try start(.writeUntilKilled, peer, rows, folder)
    let said = output.readData(ofLength: ready.utf8.count)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    guard said == Data(ready.utf8) else { throw PeerError(peer.contender, "a child failed") }
  }

  private static func start(
    _ task: Task,
    _ peer: Peer,
    _ rows: Int,
    _ folder: URL
  ) throws -> (Process, FileHandle) {
    let pipe = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "--child", task.rawValue, peer.contender.rawValue, String(rows), folder.path,
    ]
    process.standardOutput = pipe
    try process.run()
    return (process, pipe.fileHandleForReading)
  }
}
