import Foundation
import ModelRuntime
import PostgresStore
import StoreDifferential
import Testing

/// A namespace of the test server.
private struct ServerPlace: ShelfPlace {
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace() }

  var configuration: any DataStoreConfiguration { namespace.configuration }
  func compact() throws {}
  func remove() {}
}

@Suite struct `Random questions to a PostgreSQL store` {
  /// More of them with `LOGSTORE_DIFFERENTIAL_SEEDS`.
  private static let seeds: ClosedRange<UInt64> = {
    let wanted = ProcessInfo.processInfo.environment["LOGSTORE_DIFFERENTIAL_SEEDS"]
    return 1...max(1, wanted.flatMap(UInt64.init) ?? 10)
  }()

  @Test(arguments: seeds)
  func `are answered as plain Swift answers them`(seed: UInt64) throws {
    var differential = Differential()
    try differential.run(seed: seed, pieceCount: 60, questionCount: 12) { _ in try ServerPlace() }
    #expect(differential.disagreements.map(\.description) == [], "seed \(seed)")
    #expect(differential.caseCount == 3 * 12 * 6)
  }
}
