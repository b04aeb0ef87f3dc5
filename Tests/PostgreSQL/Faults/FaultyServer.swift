import Foundation
@testable import PostgresStore

/// A PostgreSQL server in a folder, which can be ended at once and started again on what it left.
final class FaultyServer: @unchecked Sendable {
  /// The folder that has the server's socket.
  let folder: String
  private let lock = NSLock()
  // Guarded by the lock.
  private var running: (process: Process, lifeline: Pipe)?

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a server.
  ///
  /// - Throws: `Failure`, if it does not answer.
  init() throws {
    // Short: the path of a socket has at most 107 bytes.
    let name = UUID().uuidString.prefix(8)
    folder = "/tmp/logstore-faults-\(name)"
    try start()
  }

  var url: String { FaultyServer.url(in: folder) }

  /// The address for a socket in a folder: the server's own, or that of a proxy.
  static func url(in folder: String) -> String { "host=\(folder) user=postgres dbname=postgres" }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "server")

  private func start() throws {
    let (process, lifeline, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = [FaultyServer.script.path, folder, "keep"]
    process.standardInput = lifeline
    process.standardOutput = output
    try process.run()
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw Failure(description: "the server in \(folder) did not start; see its log.txt")
    }
    running = (process, lifeline)
  }

  private func stop() {
    guard let (process, lifeline) = running else { return }
    try? lifeline.fileHandleForWriting.close()
    process.waitUntilExit()
    running = nil
  }

  /// Ends the server in its "immediate" mode, without a word to its sessions, and starts it again.
  ///
  /// - Throws: `Failure`, if it does not answer.
  func restart() throws {
    try lock.withLock {
      stop()
      try start()
    }
  }

  /// Ends the server, and removes its folder.
  func remove() {
    lock.withLock { stop() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// A new session with the server itself.
  func session() throws -> SQLSession { try SQLSession(url) }
}

/// A session that speaks SQL, beside the stores.
final class SQLSession {
  private let connection: Connection

  init(_ url: String) throws {
    connection = try Connection(url, applicationName: "faults", RoundTripCounter())
  }

  func run(_ sql: String) throws { _ = try connection.run([Statement(sql)]) }

  /// The integers in the first column of a query's rows.
  func integers(_ sql: String) throws -> [Int] {
    let result = try connection.run([Statement(sql)])[0]
    return (0..<result.rowCount).map { Int(result.integer($0, 0)) }
  }

  func integer(_ sql: String) throws -> Int { try integers(sql).first ?? 0 }

  /// The texts in the first column of a query's rows.
  func texts(_ sql: String) throws -> [String] {
    let result = try connection.run([Statement(sql)])[0]
    return (0..<result.rowCount).map { result.text($0, 0) }
  }
}
