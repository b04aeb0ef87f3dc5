import Foundation
import LogEngine
import LogTools
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// A day that a test turns.
final class Calendarium: Sendable {
  private let day: Mutex<Date>

  init(_ day: Date) { self.day = Mutex(day) }

  var now: Date { day.withLock { $0 } }
  func advance(by seconds: TimeInterval) { day.withLock { $0 += seconds } }
}

/// A store whose models expire, at a time of the test's own.
struct AgingStore {
  static let noon = Date(timeIntervalSinceReferenceDate: 800_000_000)
  static let month: Duration = .seconds(30 * 86_400)

  let folder: TemporaryFolder
  let days = Calendarium(AgingStore.noon)
  var url: URL { folder.url.appending(path: "aging.store") }

  init() throws { folder = try TemporaryFolder() }

  /// The configuration of the store, in which nothing expires in the background.
  func configuration(_ expirations: [LogStoreConfiguration.Expiration]) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration(url: url, expirations: expirations)
    configuration.expirationInterval = nil
    configuration.externalStorageThreshold = 1000
    configuration.expirationClock.now = { [days] in days.now }
    return configuration
  }

  func open(_ expirations: LogStoreConfiguration.Expiration...) throws -> ModelContainer {
    try open(configuration(expirations))
  }

  func open(_ configuration: LogStoreConfiguration) throws -> ModelContainer {
    try ModelContainer(for: Schema(Aging.models), configurations: [configuration])
  }
}

extension ModelContainer {
  /// Deletes what has expired, on this thread.
  @discardableResult
  func expire(_ check: () throws -> Void = {}) throws -> [ExpirationReport] {
    try #require(stores(of: LogStore.self).first?.expirer).expire(in: self, check)
  }

  /// Saves what a block makes.
  @discardableResult
  func saving<R>(_ body: (ModelContext) throws -> R) throws -> R {
    let context = ModelContext(self)
    let result = try body(context)
    try context.save()
    return result
  }

  func numbers() throws -> [Int] {
    try ModelContext(self).fetch(FetchDescriptor<Aging.Pulse>()).map(\.number).sorted()
  }

  func names<M: PersistentModel>(_ name: KeyPath<M, String>) throws -> [String] {
    try ModelContext(self).fetch(FetchDescriptor<M>()).map { $0[keyPath: name] }.sorted()
  }

  /// Verifies the store's bytes, its indexes and its lists.
  func check() throws {
    let store = try #require(stores(of: LogStore.self).first)
    #expect(try store.verify().isSound)
    try store.tables.checkIndexes()
    try store.tables.checkLists()
  }
}
