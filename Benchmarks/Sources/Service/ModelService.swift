import Foundation
import Harness
import LogStore
import SwiftData

/// Readings as models in a LogStore.
final class ModelService: ServiceStore {
  let contender = Contender.models
  let settings: String
  let container: ModelContainer

  /// Opens a store, or makes it.
  ///
  /// - Parameters:
  ///   - folder: Its folder.
  ///   - state: Its particular state, in words.
  /// - Throws: What the store throws.
  init(_ folder: URL, state: String = "rows in the log") throws {
    settings = "a new ModelContext on LogStore, #Index on at, on serial and at, on state; \(state)"
    container = try ModelContainer(
      for: Schema([Reading.self, Device.self]),
      configurations: [Self.configuration(folder)]
    )
  }

  private static func configuration(_ folder: URL) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.schema = Schema([Reading.self, Device.self])
    // A log or a pack is measured, and not a state between them.
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    return configuration
  }

  /// Saves readings, 10,000 at a time.
  func fill(_ count: Int) throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      let context = ModelContext(container)
      for number in start..<min(start + 10_000, count) {
        context.insert(Reading(ReadingRecord(number: number)))
      }
      try context.save()
    }
  }

  /// Puts all rows of a closed store into packs.
  static func pack(_ folder: URL) throws {
    _ = try LogStore(configuration(folder), migrationPlan: nil).compact()
  }

  func nextPage(from: Double, limit: Int) throws -> Int {
    try sum(#Predicate { $0.at >= from }, [SortDescriptor(\.at)], limit: limit)
  }

  func previousPage(before: Double, limit: Int) throws -> Int {
    try sum(#Predicate { $0.at < before }, [SortDescriptor(\.at, order: .reverse)], limit: limit)
  }

  func newest(of serial: String, before: Double, limit: Int) throws -> Int {
    try sum(
      #Predicate { $0.serial == serial && $0.at < before },
      [SortDescriptor(\.at, order: .reverse)],
      limit: limit
    )
  }

  func count(of serial: String, from: Double, to: Double) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<Reading>(
        predicate: #Predicate { $0.serial == serial && $0.at >= from && $0.at < to }
      )
    )
  }

  func page(offset: Int, limit: Int) throws -> Int {
    try sum(nil, [SortDescriptor(\.at)], limit: limit, offset: offset)
  }

  func unsortedPage(offset: Int, limit: Int) throws -> Int {
    try sum(nil, [], limit: limit, offset: offset)
  }

  func readings(at: Double, or serial: String, at other: Double) throws -> Int {
    try sum(#Predicate { $0.at == at || $0.serial == serial && $0.at == other }, [], limit: 100)
  }

  func values(of serial: String, from: Double, to: Double) throws -> Int {
    let readings = FetchDescriptor<Reading>(
      predicate: #Predicate { $0.serial == serial && $0.at >= from && $0.at < to }
    )
    return try ModelContext(container).fetch(readings, \.at, \.value)
      .reduce(0) { $0 + ReadingRecord.valueSum($1.0, $1.1) }
  }

  func some(inState state: String, limit: Int) throws -> Int {
    var descriptor = FetchDescriptor<Reading>(predicate: #Predicate { $0.state == state })
    descriptor.fetchLimit = limit
    return try ModelContext(container).fetch(descriptor).count
  }

  func findOrCreate(_ serials: [String]) throws -> Int {
    let context = ModelContext(container)
    var created = 0
    for serial in serials {
      if let device = try Self.device(serial, in: context) {
        device.seen += 1
      } else {
        context.insert(Device(serial: serial))
        created += 1
      }
    }
    try context.save()
    return created
  }

  /// A device by its serial number, unsaved ones included.
  static func device(_ serial: String, in context: ModelContext) throws -> Device? {
    var descriptor = FetchDescriptor<Device>(predicate: #Predicate { $0.serial == serial })
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  private func sum(
    _ predicate: Predicate<Reading>?,
    _ order: [SortDescriptor<Reading>],
    limit: Int,
    offset: Int = 0
  ) throws -> Int {
    var descriptor = FetchDescriptor<Reading>(predicate: predicate, sortBy: order)
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    return try ModelContext(container).fetch(descriptor).reduce(0) { sum, reading in
      sum
        + ReadingRecord.checksum(reading.at, reading.metric, reading.value, reading.message)
    }
  }
}
