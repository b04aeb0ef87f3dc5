import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// A class whose models others refer to while it is deleted.
enum Measuring {
  @Model final class Device {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Reading.device) var readings: [Reading] = []
    @Relationship(deleteRule: .nullify, inverse: \Alarm.device) var alarms: [Alarm] = []

    init(_ name: String) { self.name = name }
  }

  @Model final class Reading {
    var value: Int
    var device: Device?

    init(_ value: Int) { self.value = value }
  }

  @Model final class Alarm {
    var value: Int
    var device: Device?

    init(_ value: Int) { self.value = value }
  }

  /// What refers to a device.
  enum Referrer: String, CaseIterable {
    case reading, alarm
  }
}

@Suite struct `Deleting what others go on referring to` {
  private let container: ModelContainer
  private let tables: TableStore

  init() throws {
    container = try ModelContainer(
      for: Measuring.Device.self,
      Measuring.Reading.self,
      Measuring.Alarm.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    tables = try #require(container.stores(of: DefaultStore.self).first).tables
    let context = ModelContext(container)
    let device = Measuring.Device("thermometer")
    context.insert(device)
    device.readings = [Measuring.Reading(0)]
    device.alarms = [Measuring.Alarm(0)]
    try context.save()
  }

  private func device(_ context: ModelContext) throws -> Measuring.Device {
    try #require(try context.fetch(FetchDescriptor<Measuring.Device>()).first)
  }

  private static func add(
    _ referrer: Measuring.Referrer,
    _ number: Int,
    to container: ModelContainer
  )
    throws
  {
    let context = ModelContext(container)
    let device = try context.fetch(FetchDescriptor<Measuring.Device>()).first
    switch referrer {
    case .reading:
      let reading = Measuring.Reading(number)
      context.insert(reading)
      reading.device = device
    case .alarm:
      let alarm = Measuring.Alarm(number)
      context.insert(alarm)
      alarm.device = device
    }
    try context.save()
  }

  /// Runs a block on this thread each time that it comes to its claim.
  private func atEachClaim<R>(
    run other: @escaping @Sendable () -> Void,
    during body: () throws -> R
  ) rethrows -> R {
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let hook = ScheduleHook { reached in
      if reached == .beforeClaim, thread == UInt(bitPattern: Int(bitPattern: pthread_self())) {
        other()
      }
    }
    defer { hook.remove() }
    return try body()
  }

  @Test(arguments: Measuring.Referrer.allCases)
  func `ends, however many come`(referrer: Measuring.Referrer) throws {
    let context = ModelContext(container)
    let attempts = Mutex(0)
    let late = DispatchGroup()
    context.delete(try device(context))
    try atEachClaim { [container, tables] in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      if attempt > 20 { return }
      // Another thread adds one before each attempt; once it is kept from that, it need not be waited for.
      let added = DispatchGroup()
      let isKept = tables.referenceClaims.isKept
      let queue = DispatchQueue(label: "referrer")
      queue.async(group: isKept ? late : added) {
        do {
          try Self.add(referrer, attempt, to: container)
        } catch {
          // It came when the device was being deleted.
          #expect(isKept, "\(error)")
        }
      }
      added.wait()
    } during: {
      try context.save()
    }
    late.wait()
    #expect(attempts.withLock { $0 } <= 5)
    let fresh = ModelContext(container)
    #expect(try fresh.fetchCount(FetchDescriptor<Measuring.Device>()) == 0)
    let readings = try fresh.fetch(FetchDescriptor<Measuring.Reading>())
    let alarms = try fresh.fetch(FetchDescriptor<Measuring.Alarm>())
    #expect(readings.isEmpty || referrer == .reading && readings.count == 1)
    #expect(readings.allSatisfy { $0.device == nil })
    #expect(!alarms.isEmpty && alarms.allSatisfy { $0.device == nil })
    #expect(!tables.referenceClaims.isKept)
    #expect(try container.storeInvariantViolations() == [])
  }

  @Test func `ends for a store's own delete, too`() throws {
    let store = try #require(container.stores(of: DefaultStore.self).first)
    let attempts = Mutex(0)
    let late = DispatchGroup()
    try atEachClaim { [container, tables] in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      if attempt > 20 { return }
      let added = DispatchGroup()
      let isKept = tables.referenceClaims.isKept
      DispatchQueue(label: "referrer").async(group: isKept ? late : added) {
        do {
          try Self.add(.alarm, attempt, to: container)
        } catch {
          #expect(isKept, "\(error)")
        }
      }
      added.wait()
    } during: {
      try store.delete(
        DataStoreBatchDeleteRequest<Measuring.Device>(
          predicate: nil,
          includeSubclasses: true,
          editingState: EditingState()
        )
      )
    }
    late.wait()
    #expect(attempts.withLock { $0 } <= 5)
    let fresh = ModelContext(container)
    #expect(try fresh.fetchCount(FetchDescriptor<Measuring.Device>()) == 0)
    #expect(try fresh.fetch(FetchDescriptor<Measuring.Alarm>()).allSatisfy { $0.device == nil })
    #expect(!tables.referenceClaims.isKept)
  }

  @Test func `goes on without rows that another deletes meanwhile, in a store's own delete`() throws
  {
    let store = try #require(container.stores(of: DefaultStore.self).first)
    let context = ModelContext(container)
    for number in 0..<3 { context.insert(Measuring.Alarm(number + 10)) }
    try context.save()
    let isFirst = Mutex(true)
    try atEachClaim { [container] in
      guard
        isFirst.withLock({ first in
          defer { first = false }
          return first
        })
      else { return }
      do {
        let other = ModelContext(container)
        try other.delete(model: Measuring.Alarm.self, where: #Predicate { $0.value == 11 })
        try other.save()
      } catch {
        Issue.record(error)
      }
    } during: {
      try store.delete(
        DataStoreBatchDeleteRequest<Measuring.Alarm>(
          predicate: nil,
          includeSubclasses: true,
          editingState: EditingState()
        )
      )
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Measuring.Alarm>()) == 0)
  }
}

@Suite struct `Claims of references` {
  private let claims = ReferenceClaims()

  private func row(_ key: UInt64) -> RowReference { RowReference(table: 1, key: key) }

  private func changes(
    referringTo targets: [UInt64] = [],
    deleting deleted: [UInt64] = []
  ) -> ReferenceChanges {
    var changes = ReferenceChanges()
    for target in targets {
      changes.record(RowReference(table: 2, key: target), 0, row(target))
    }
    for key in deleted {
      changes.recordDeletion(of: row(key), canBeReferredTo: true, canRefer: false)
    }
    return changes
  }

  /// Claims in a thread of its own.
  private func claimLater(
    _ changes: ReferenceChanges,
    keptBy owner: KeptClaim? = nil,
    _ body: @escaping @Sendable () -> Void
  ) -> DispatchGroup {
    let group = DispatchGroup()
    let before = claims.waitingCount
    DispatchQueue(label: "claim").async(group: group) { [claims] in
      let claim = claims.claim(changes, keptBy: owner)
      body()
      claims.finish(claim)
    }
    // Until it waits, or need not.
    while claims.waitingCount == before, group.wait(timeout: .now()) == .timedOut {}
    return group
  }

  @Test func `of who deletes come before later ones of who refers to the row`() {
    let order = Mutex<[String]>([])
    let first = claims.claim(changes(referringTo: [1]))
    let deleting = claimLater(changes(deleting: [1])) { order.withLock { $0.append("deletes") } }
    let referring = claimLater(changes(referringTo: [1])) { order.withLock { $0.append("refers") } }
    let unconcerned = claimLater(changes(referringTo: [2])) {
      order.withLock { $0.append("unconcerned") }
    }
    unconcerned.wait()
    claims.finish(first)
    deleting.wait()
    referring.wait()
    #expect(order.withLock { $0 } == ["unconcerned", "deletes", "refers"])
    #expect(claims.waitingCount == 0)
  }

  @Test func `do not wait for each other, each for what the other is to delete`() {
    let held = [claims.claim(changes(referringTo: [1])), claims.claim(changes(referringTo: [2]))]
    let both = [
      claimLater(changes(referringTo: [2], deleting: [1])) {},
      claimLater(changes(referringTo: [1], deleting: [2])) {},
    ]
    for claim in held { claims.finish(claim) }
    for group in both { group.wait() }
    #expect(claims.waitingCount == 0)
  }

  /// Keeps rows, as a save does that was refused after its claim.
  private func keep(_ rows: [UInt64], in kept: KeptClaim) {
    let claim = claims.claim(changes(deleting: rows), keptBy: kept)
    claims.finish(claim, keeping: kept)
  }

  @Test
  func `that are kept hold up all but the save that keeps them, which waits for none of those`() {
    let kept = KeptClaim()
    keep([1], in: kept)
    #expect(claims.isKept)
    let deleting = claimLater(changes(deleting: [1, 2])) {}
    let referring = claimLater(changes(referringTo: [1])) {}
    #expect(claims.waitingCount == 2)
    claimLater(changes(referringTo: [2], deleting: [1]), keptBy: kept) {}.wait()
    #expect(claims.waitingCount == 2)
    kept.release()
    deleting.wait()
    referring.wait()
    #expect(!claims.isKept)
    #expect(claims.waitingCount == 0)
  }

  @Test func `that are kept hold up no save on the thread of the one that keeps them`() {
    let kept = KeptClaim()
    keep([1], in: kept)
    let deleting = claimLater(changes(deleting: [1, 2])) {}
    // As when the app saves while a model is encoded.
    claims.finish(claims.claim(changes(referringTo: [1, 2])))
    kept.release()
    deleting.wait()
    #expect(claims.waitingCount == 0)
  }

  @Test func `are kept by one save at a time, and no longer than it says`() {
    let (kept, other) = (KeptClaim(), KeptClaim())
    keep([1], in: kept)
    keep([2], in: other)
    // The other one keeps nothing: nobody waits for its row.
    claimLater(changes(referringTo: [2])) {}.wait()
    other.release()
    #expect(claims.isKept)
    kept.release()
    kept.release()
    #expect(!claims.isKept)
    claimLater(changes(referringTo: [1])) {}.wait()
  }
}
