import Foundation
import Harness
import PeerStores

/// This program again, in a process of its own: for what only a whole process can tell, as its peak of
/// memory, or what is left when it is killed.
enum Child {
  /// What a child is asked to do.
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
  ///   - peer: Whose store.
  ///   - rows: How many rows it is to hold.
  ///   - folder: Where; a new folder.
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
  ///   - peer: Whose store.
  ///   - rows: How many rows the store holds already.
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
