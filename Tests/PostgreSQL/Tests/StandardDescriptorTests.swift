import Foundation
import Testing

@testable import PostgresStore

@Suite struct `A process that was started without standard input, output and error` {
  @Test func `sends none of its lines to a PostgreSQL server`() async throws {
    let url = try TestServer.shared.get().url
    await #expect(processExitsWith: .success) { [url = url as String] in
      for descriptor in STDIN_FILENO...STDERR_FILENO { _ = close(descriptor) }
      let connections = try (0..<4).map { _ in
        try Connection(url, applicationName: "undescribed", RoundTripCounter())
      }
      let line = Array("a line of a log that goes nowhere\n".utf8)
      for descriptor in STDIN_FILENO...STDERR_FILENO {
        _ = write(descriptor, line, line.count)
      }
      for connection in connections { _ = try connection.run([Statement("SELECT 1")]) }
    }
  }
}
