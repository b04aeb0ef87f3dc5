import Foundation
@testable import PostgresStore

/// A session of the test's own, beside those of the stores.
final class ServerSession: Sendable {
  private let connection: Connection

  init(_ url: String) throws {
    connection = try Connection(url, applicationName: "test", RoundTripCounter())
  }

  func run(_ sql: String) throws { _ = try connection.run([Statement(sql)]) }

  /// The integer that a query returns.
  func integer(_ sql: String) throws -> Int {
    let result = try connection.run([Statement(sql)])[0]
    return result.rowCount == 0 ? 0 : Int(result.integer(0, 0))
  }

  /// The text that a query returns.
  func text(_ sql: String) throws -> String? {
    let result = try connection.run([Statement(sql)])[0]
    return result.rowCount == 0 ? nil : result.optionalText(0, 0)
  }

  /// The texts that a query returns, a row each.
  func texts(_ sql: String) throws -> [String] {
    let result = try connection.run([Statement(sql)])[0]
    return (0..<result.rowCount).map { result.text($0, 0) }
  }
}
