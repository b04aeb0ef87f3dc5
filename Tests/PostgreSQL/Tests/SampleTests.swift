import Foundation
import Testing

/// `SampleTrips`, which checks itself what its store holds in the end.
@Suite struct `The sample on a server` {
  private static let program = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "SampleTrips")
  private static let flights = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Tools/SampleTrips/Resources/flights-2013-01.csv")

  /// Runs the sample with the first flights of the bundled file.
  private func run(flightCount: Int, server: String) throws -> (status: Int32, output: String) {
    let file = FileManager.default.temporaryDirectory.appending(path: "flights-\(UUID()).csv")
    defer { try? FileManager.default.removeItem(at: file) }
    let lines = try String(contentsOf: Self.flights, encoding: .utf8)
      .split(separator: "\n").prefix(flightCount + 1)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    let process = Process()
    process.executableURL = Self.program
    process.arguments = [
      "--store", "postgres", "--url", server, "--csv", file.path, "--batch", "10",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test func `keeps what the file says, and goes on where an earlier run ended`() throws {
    let server = try TestServer.shared.get()
    let first = try run(flightCount: 30, server: server.url)
    #expect(first.status == 0, "\(first.output)")
    #expect(first.output.contains("30 flights, postgres store"))
    let second = try run(flightCount: 40, server: server.url)
    #expect(second.status == 0, "\(second.output)")
    #expect(second.output.contains("trips were there already"))
  }

  @Test func `says what is wrong where no server answers, without the password`() throws {
    let result = try run(
      flightCount: 1,
      server: "postgresql://nobody:secret@127.0.0.1:1/nothing?connect_timeout=1"
    )
    #expect(result.status == 1)
    #expect(result.output.contains("the server does not keep the trips"))
    #expect(!result.output.contains("secret"))
  }
}
