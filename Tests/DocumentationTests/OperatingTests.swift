import Foundation
import JSONStore
import LogEngine
import LogTools
import SwiftData
import Synchronization
import Testing

// The snippets of the articles Deploying, Security and Observing a store, as they are printed there.

@Model
final class Measurement {
  @Attribute(.externalStorage) var payload: Data
  var taken: Date

  init(payload: Data, taken: Date) {
    self.payload = payload
    self.taken = taken
  }
}

/// Backs a store up into a folder, checks the copy, and keeps the newest seven.
func backUp(_ container: ModelContainer, into folder: URL, at date: Date) throws {
  let name = date.formatted(.iso8601.timeSeparator(.omitted))
  let copy = folder.appending(path: "\(name).store")
  guard let store = container.stores(of: LogStore.self).first else { throw BackupFailure.noStore }
  try store.backup(to: copy)
  let report = try StorageEngine.verify(at: copy.path)
  guard report.isSound else { throw BackupFailure.damaged(report.problems) }

  let copies = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  for old in copies.dropLast(7) {
    try FileManager.default.removeItem(at: folder.appending(path: old))
  }
}

enum BackupFailure: Error {
  case noStore
  case damaged([VerificationProblem])
}

/// How a container comes to a log.
enum Opening: CaseIterable, CustomTestStringConvertible {
  /// As `ModelContainer(for:)` does, but at a place of the test.
  case modelConfiguration
  case logStoreConfiguration

  var testDescription: String { "\(self)" }

  func container(at url: URL) throws -> ModelContainer {
    switch self {
    case .modelConfiguration:
      try ModelContainer(for: Measurement.self, configurations: ModelConfiguration(url: url))
    case .logStoreConfiguration:
      try ModelContainer(for: Measurement.self, configurations: LogStoreConfiguration(url: url))
    }
  }
}

/// What an operator hears of.
final class Alarm: Sendable {
  private let messages = Mutex<[String]>([])
  func ring(_ message: String) { messages.withLock { $0.append(message) } }
  var count: Int { messages.withLock { $0.count } }
}

@Suite struct `The articles on operation` {
  let folder: TestFolder
  var place: URL { folder.url.appending(path: "measurements.store") }

  init() throws { folder = try TestFolder() }

  private func fill(_ container: ModelContainer, _ count: Int) throws {
    let context = ModelContext(container)
    for i in 0..<count {
      let taken = Date(timeIntervalSince1970: Double(i))
      context.insert(Measurement(payload: Data([UInt8(i)]), taken: taken))
    }
    try context.save()
  }

  @Test(arguments: Opening.allCases)
  func `back a store up, check the copy, and keep seven`(opening: Opening) throws {
    let container = try opening.container(at: place)
    try fill(container, 3)
    let backups = folder.url.appending(path: "backups")
    try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)
    for day in 0..<9 {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400)
      try backUp(container, into: backups, at: date)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: backups.path).sorted()
    #expect(names.count == 7)
    #expect(names.first == "1970-01-03T000000Z.store")

    let copy = try ModelContainer(
      for: Measurement.self,
      configurations: LogStoreConfiguration(url: backups.appending(path: names[0]))
    )
    #expect(try ModelContext(copy).fetchCount(FetchDescriptor<Measurement>()) == 3)
  }

  @Test func `set a store up for a service`() async throws {
    let alarm = Alarm()
    let folder = place

    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.cacheByteCount = 64 << 20
    configuration.compaction = .init(.automatic, historyByteCount: 4 << 20)
    configuration.permissions = .groupReads
    configuration.onEvent = { event in
      if case .poisoned(let error) = event { alarm.ring("cannot save: \(error)") }
    }
    let container = try ModelContainer(for: Measurement.self, configurations: configuration)
    try fill(container, 5)
    try await container.close()
    #expect(alarm.count == 0)

    let attributes = try FileManager.default.attributesOfItem(
      atPath: folder.appending(path: "log").path
    )
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o750)
  }

  @Test func `delete what has expired`() async throws {
    let folder = place

    var configuration = LogStoreConfiguration(
      url: folder,
      expirations: [.init(Measurement.self, after: .seconds(30 * 86_400), since: \.taken)]
    )
    configuration.expirationInterval = .seconds(600)

    let container = try ModelContainer(for: Measurement.self, configurations: configuration)
    try fill(container, 5)
    let context = ModelContext(container)
    context.insert(Measurement(payload: Data(), taken: .now))
    try context.save()

    for store in container.stores(of: LogStore.self) {
      try await store.expire()
    }

    #expect(try context.fetchCount(FetchDescriptor<Measurement>()) == 1)
  }

  @Test func `refuse to back up a container without a log`() throws {
    let container = try ModelContainer(
      for: Measurement.self,
      configurations: JSONStoreConfiguration(name: "measurements", url: place)
    )
    #expect(throws: BackupFailure.self) {
      try backUp(container, into: folder.url, at: .distantPast)
    }
  }

  @Test func `read beside the process that writes`() throws {
    let writer = try ModelContainer(
      for: Measurement.self,
      configurations: LogStoreConfiguration(url: place)
    )
    try fill(writer, 2)
    let url = place
    let reader = try ModelContainer(
      for: Measurement.self,
      configurations: LogStoreConfiguration(url: url, allowsSave: false)
    )
    let context = ModelContext(reader)
    #expect(try context.fetchCount(FetchDescriptor<Measurement>()) == 2)
    try fill(writer, 1)
    #expect(try context.fetchCount(FetchDescriptor<Measurement>()) == 3)
  }

  @Test(arguments: Opening.allCases)
  func `tell how a store is doing`(opening: Opening) throws {
    let container = try opening.container(at: place)
    try fill(container, 2)
    var printed: [String] = []
    func print(_ items: Any...) {
      printed.append(items.map { "\($0)" }.joined(separator: " "))
    }

    let store = container.stores(of: LogStore.self).first
    if let statistics = store?.statistics() {
      print(statistics.compaction.debtByteCount, "bytes to be reclaimed")
      print(
        statistics.pins.heldByteCount,
        "bytes held for readers since",
        statistics.pins.oldestAge ?? .zero
      )
    }

    #expect(printed.count == 2)
    #expect(printed.first == "0 bytes to be reclaimed")
  }

  @Test func `forget for good what was deleted`() throws {
    var configuration = LogStoreConfiguration(url: place)
    configuration.compaction = .init(.automatic, historyAge: .zero, historyByteCount: 0)
    let container = try ModelContainer(for: Measurement.self, configurations: configuration)
    let secret = Data("correct horse battery staple".utf8)
    let context = ModelContext(container)
    let measurement = Measurement(payload: secret, taken: .now)
    context.insert(measurement)
    try context.save()

    context.delete(measurement)
    try context.save()
    for store in container.stores(of: LogStore.self) {
      try store.compact()
    }

    let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard let bytes = try? Data(contentsOf: file) else { continue }
      #expect(bytes.range(of: secret) == nil, "\(file.lastPathComponent) still has it")
    }
  }
}
