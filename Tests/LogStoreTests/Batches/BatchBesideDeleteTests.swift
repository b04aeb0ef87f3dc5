import Foundation
import ModelRuntime
import RowFormat
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Model private final class Reading {
  @Attribute(.unique) var code: Int
  var value: Int

  init(_ code: Int) {
    self.code = code
    value = 0
  }
}

// A commit is numbered before it is written, and seen only after it: meanwhile its rows are there to who looks, and gone
// to who commits.

@Suite struct `A batch beside a delete that still waits for the disk` {
  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    container = try ModelContainer(
      for: Reading.self,
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "readings.store"),
        durability: .relaxed
      )
    )
    let context = ModelContext(container)
    for code in 0..<40 { context.insert(Reading(code)) }
    try context.save()
  }

  private static var ownThread: UInt { UInt(bitPattern: Int(bitPattern: pthread_self())) }

  /// Does something while the first readings are being deleted by another thread.
  ///
  /// - Parameters:
  ///   - count: How many are deleted: those whose code is less.
  ///   - body: What is done once that delete has its number; it becomes visible when this has met it, or is over.
  /// - Returns: What `body` returned, and how often it came to a commit.
  /// - Throws: What `body` throws.
  private func besideDelete<R>(of count: Int, _ body: () throws -> R) throws -> (R, attempts: Int) {
    let deleter = Mutex<UInt?>(nil)
    let attempts = Mutex(0)
    let (isNumbered, isMet) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ownThread = Self.ownThread
    let hook = ScheduleHook { point in
      switch (point, Self.ownThread) {
      case (.beforePublication, let thread) where thread == deleter.withLock { $0 }:
        isNumbered.signal()
        isMet.wait()
        deleter.withLock { $0 = nil }
      case (.afterVanishing, ownThread): isMet.signal()
      case (.beforeClaim, ownThread):
        let attempt = attempts.withLock { count in
          count += 1
          return count
        }
        // One that tries again and again would not end.
        if attempt > 10 { isMet.signal() }
      default: break
      }
    }
    defer { hook.remove() }
    let isDeleted = DispatchGroup()
    DispatchQueue(label: "deleter").async(group: isDeleted) { [container] in
      deleter.withLock { $0 = Self.ownThread }
      do {
        let gone = try ModelContext(container).batchDelete(
          Reading.self,
          where: #Predicate { $0.code < count }
        )
        #expect(gone.deletedCount == count)
      } catch {
        Issue.record(error)
        isNumbered.signal()
      }
    }
    isNumbered.wait()
    defer {
      isMet.signal()
      isDeleted.wait()
    }
    return (try body(), attempts.withLock { $0 })
  }

  private func codes() throws -> [Int] {
    try ModelContext(container)
      .fetch(FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.code)])).map(\.code)
  }

  @Test(arguments: [1, 25, 40])
  func `deletes what that one leaves, in one more attempt`(count: Int) throws {
    let context = ModelContext(container)
    let (gone, attempts) = try besideDelete(of: count) { try context.batchDelete(Reading.self) }
    #expect(gone.deletedCount == 40 - count)
    #expect(attempts == (count == 40 ? 1 : 2))
    #expect(try codes() == [])
  }

  @Test(arguments: [1, 25, 40])
  func `changes what that one leaves, in one more attempt`(count: Int) throws {
    let context = ModelContext(container)
    let (changed, attempts) = try besideDelete(of: count) {
      try context.batchUpdate(Reading.self, .set(\.value, to: 7))
    }
    #expect(changed.updatedCount == 40 - count)
    #expect(attempts == (count == 40 ? 1 : 2))
    #expect(try codes() == Array(count..<40))
    let left = try ModelContext(container).fetch(FetchDescriptor<Reading>())
    #expect(left.allSatisfy { $0.value == 7 })
  }

  @Test(arguments: [1, 25, 40])
  func `adds to what that one leaves`(count: Int) throws {
    let context = ModelContext(container)
    let (changed, _) = try besideDelete(of: count) {
      try context.batchUpdate(Reading.self, .add(3, to: \.value))
    }
    #expect(changed.updatedCount == 40 - count)
    let left = try ModelContext(container).fetch(FetchDescriptor<Reading>())
    #expect(left.count == 40 - count && left.allSatisfy { $0.value == 3 })
  }

  @Test func `inserts again what it was to update, in one more attempt`() throws {
    let context = ModelContext(container)
    let (result, attempts) = try besideDelete(of: 10) {
      try context.batchUpsert(Reading.self, \.code, \.value, rows: (0..<20).map { ($0, 9) })
    }
    #expect(result.insertedCount == 10 && result.updatedCount == 10)
    #expect(attempts == 2)
    #expect(try codes() == Array(0..<40))
  }

  @Test func `leaves to a store's own delete what that one leaves, in one more attempt`() throws {
    let store = try #require(container.stores(of: LogStore.self).first)
    let (_, attempts) = try besideDelete(of: 10) {
      try store.delete(
        DataStoreBatchDeleteRequest<Reading>(
          predicate: nil,
          includeSubclasses: true,
          editingState: EditingState()
        )
      )
    }
    #expect(attempts == 2)
    #expect(try codes() == [])
  }

  @Test func `lets a save of deletes leave out what that one deletes`() throws {
    let context = ModelContext(container)
    for reading in try context.fetch(FetchDescriptor<Reading>()) { context.delete(reading) }
    _ = try besideDelete(of: 10) { try context.save() }
    #expect(try codes() == [])
  }
}
