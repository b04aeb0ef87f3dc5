import Foundation

/// A PostgreSQL server in a temporary folder, on a socket in it, as the tests start it; it ends with this process.
final class Server {
  /// The address, for libpq.
  let url: String
  private let process = Process()
  private let lifeline = Pipe()

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// Starts a server, or takes the one that LOGSTORE_POSTGRES_URL names.
  init() throws {
    let environment = ProcessInfo.processInfo.environment
    if let url = environment["LOGSTORE_POSTGRES_URL"] {
      self.url = url
      return
    }
    guard let script = environment["LOGSTORE_POSTGRES_SERVER"] else {
      throw Failure(description: "LOGSTORE_POSTGRES_SERVER names no script; start Benchmarks/run")
    }
    // Short: the path of a socket has at most 107 bytes.
    let folder = "/tmp/logstore-postgres-\(ProcessInfo.processInfo.processIdentifier)"
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [script, folder]
    let output = Pipe()
    process.standardInput = lifeline
    process.standardOutput = output
    try process.run()
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw Failure(description: "no PostgreSQL server could be started in \(folder)")
    }
    url = "host=\(folder) user=postgres dbname=postgres"
  }

  /// Ends the server, and waits until its folder is gone.
  func stop() {
    guard process.isRunning else { return }
    try? lifeline.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
