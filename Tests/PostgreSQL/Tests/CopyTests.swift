import Foundation
import Testing

@testable import PostgresStore

/// Rows of many chunks, which are received while the first ones are read.
@Suite struct `A copy from a server` {
  private struct GivenUp: Error {}

  private static let count = 60_000
  private let connection: Connection

  init() throws {
    let server = try TestServer.shared.get()
    connection = try Connection(server.url, applicationName: "copy", RoundTripCounter())
  }

  private func query(_ value: String = "n") -> String {
    // A series in a list of values is sent as it is made; in FROM it would be made whole before.
    "COPY (SELECT \(value) FROM (SELECT generate_series(1::bigint, \(Self.count)) AS n) AS s) "
      + "TO STDOUT WITH (FORMAT binary)"
  }

  /// Reads the numbers that a copy sends.
  private func numbers(_ sql: String, _ body: (Int64) throws -> Void) throws {
    try connection.copyOut(sql) { message in
      // The last bytes of a row; the trailer has two.
      guard message.count >= 8 else { return }
      let bytes = message.loadUnaligned(fromByteOffset: message.count - 8, as: Int64.self)
      try body(Int64(bigEndian: bytes))
    }
  }

  private func expectThatItGoesOn() throws {
    #expect(try connection.run([Statement("SELECT 7::bigint")])[0].integer(0, 0) == 7)
  }

  @Test func `comes whole and in its order`() throws {
    var next: Int64 = 1
    try numbers(query()) {
      if $0 == next { next += 1 }
    }
    #expect(next == Int64(Self.count) + 1)
    try expectThatItGoesOn()
  }

  @Test(arguments: [1, 7_000, 59_999])
  func `can be given up at any row`(row: Int64) throws {
    #expect(throws: GivenUp.self) {
      try numbers(query()) { if $0 == row { throw GivenUp() } }
    }
    try expectThatItGoesOn()
  }

  @Test(arguments: [1, 7_000, 59_999])
  func `tells what the server refused in the middle`(row: Int) throws {
    var read: Int64 = 0
    let error = #expect(throws: PostgresStoreError.self) {
      try numbers(query("n + 0 / (n - \(row))")) { _ in read += 1 }
    }
    guard case .server(let refusal) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refusal.state == "22012")
    #expect(read < row)
    try expectThatItGoesOn()
  }

  @Test func `tells that the session was ended in the middle`() throws {
    let other = try ServerSession(try TestServer.shared.get().url)
    let process = try connection.run([Statement("SELECT pg_backend_pid()::bigint")])[0]
      .integer(0, 0)
    // More than is received ahead, so that the server is in the middle, too.
    let endless = query().replacing("\(Self.count)", with: "100000000000")
    let error = #expect(throws: PostgresStoreError.self) {
      try numbers(endless) {
        if $0 == 7_000 { try other.run("SELECT pg_terminate_backend(\(process))") }
      }
    }
    guard case .connectionLost = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!connection.isUsable)
  }
}
