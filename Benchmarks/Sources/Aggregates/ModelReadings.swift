import Foundation
import Harness
import SwiftData
import Synchronization

/// Readings as models in a LogStore, without an index; asked in a new context each time.
final class ModelReadings: ReadingStore {
  private let container: ModelContainer

  init(_ folder: URL) throws {
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    container = try ModelContainer(for: Reading.self, configurations: configuration)
  }

  func fill(_ count: Int) throws {
    _ = try ModelContext(container).batchInsert(
      Reading.self,
      \.sensor,
      \.value,
      \.number,
      \.note,
      rows: Readings(count: count),
      commitEvery: 100_000
    )
  }

  func pack() throws { try container.stores(of: LogStore.self).first?.compact() }

  private var context: ModelContext { ModelContext(container) }
  private let all = FetchDescriptor<Reading>()

  func groups() throws -> [String] {
    try context.aggregate(all, by: \.sensor, .count, .sum(\.number))
      .map { "\($0.key) \($0.values.0) \($0.values.1)" }.sorted()
  }

  func sum() throws -> [String] { [rounded(try context.aggregate(all, .sum(\.value)))] }

  func greatest() throws -> [String] {
    var descriptor = FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.value, order: .reverse)])
    descriptor.fetchLimit = 10
    return try context.fetch(descriptor, \.sensor, \.value).map { "\($0.0) \(rounded($0.1))" }
  }

  func percentiles() throws -> [String] {
    let found = try context.aggregate(all, .percentile(0.5, \.value), .percentile(0.99, \.value))
    return [rounded(found.0 ?? .nan), rounded(found.1 ?? .nan)]
  }

  /// Changes a note of readings in saves of 500, at most so many in a second, while a question is asked.
  func updating<R>(_ rowsPerSecond: Int, while body: () throws -> R) throws -> (R, saved: Int) {
    let isOver = Atomic<Bool>(false)
    let saved = Atomic<Int>(0)
    let failure = Mutex<(any Error)?>(nil)
    let ended = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)
    let container = container
    Thread.detachNewThread {
      defer { ended.signal() }
      do {
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Reading>()
        descriptor.fetchLimit = 5000
        let readings = try context.fetch(descriptor)
        begun.signal()
        let start = monotonicNanoseconds()
        var round = 0
        while !isOver.load(ordering: .relaxed) {
          let due = start + UInt64(round * 500) * 1_000_000_000 / UInt64(rowsPerSecond)
          if monotonicNanoseconds() < due {
            usleep(200)
            continue
          }
          for reading in readings[(round % 10 * 500)..<(round % 10 * 500 + 500)] {
            reading.note += 1
          }
          try context.save()
          saved.add(500, ordering: .relaxed)
          round += 1
        }
      } catch {
        failure.withLock { $0 = error }
        begun.signal()
      }
    }
    begun.wait()
    defer { ended.wait() }
    let before = saved.load(ordering: .relaxed)
    defer { isOver.store(true, ordering: .relaxed) }
    let result = try body()
    let count = saved.load(ordering: .relaxed) - before
    if let error = failure.withLock({ $0 }) { throw error }
    return (result, count)
  }
}
