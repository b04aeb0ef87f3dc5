import Foundation
import Synchronization

/// pgbouncer in transaction mode, in front of the tests' server: one for all tests, beside those that tests start for
/// themselves since they harm its sessions.
final class TestPooler: Sendable {
  let url: String
  private let process: Process
  /// The pooler ends with whoever holds this end of the pipe.
  private let lifeline = Pipe()

  static let shared = Result { try TestPooler() }

  /// Whether it can be started; where all tests have to run, those of the pooler say that it cannot.
  static let isThere =
    TestServer.isOwn
    && (ProcessInfo.processInfo.environment["CI"] != nil
      || ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/pgbouncer")
      })

  static let reason =
    "needs pgbouncer and a server of the tests' own: sudo apt-get install pgbouncer"

  private static let count = Mutex(0)

  init() throws {
    let server = try TestServer.shared.get()
    let number = TestPooler.count.withLock {
      $0 += 1
      return $0
    }
    let folder = "/tmp/logstore-pooler-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "pooler")
    process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = [script.path, folder, server.folder ?? ""]
    let output = Pipe()
    process.standardInput = lifeline
    process.standardOutput = output
    try process.run()
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw TestServer.Failure(
        description: "pgbouncer in \(folder) did not start: expected it to be installed"
      )
    }
    url = "host=\(folder) user=postgres dbname=postgres"
  }
}
