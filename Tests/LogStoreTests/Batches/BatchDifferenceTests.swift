import Foundation
import LogEngineTestSupport
import ModelRuntime
import SwiftData
import Synchronization
import Testing

@testable import LogStore

enum Wharf {
  @Model class Crate {
    var number: Int
    var small: Int8 = 0
    var great: UInt64 = 0
    var count: Int?
    var weight = 0.0
    var ratio: Float?
    var isOpen = false
    var packed: Date?
    var seal: UUID?
    var label = ""
    var note: String?

    init(_ number: Int) { self.number = number }
  }

  @Model final class Barrel: Crate {
    var litres = 0.5
    override init(_ number: Int) { super.init(number) }
  }

  @Model final class Mark {
    #Unique<Mark>([\.place, \.height])
    var place: String?
    var height: Double
    var seen: Int
    var note: String = "-"

    init(_ place: String?, _ height: Double, _ seen: Int) {
      self.place = place
      self.height = height
      self.seen = seen
    }
  }

  @Model class Berth {
    @Attribute(.unique) var code: String
    var length: Int
    init(_ code: String, _ length: Int) {
      self.code = code
      self.length = length
    }
  }

  @Model final class DryDock: Berth {
    var depth = 3
    override init(_ code: String, _ length: Int) { super.init(code, length) }
  }
}

private func openWharf(_ url: URL, sharing: Bool = true) throws -> ModelContainer {
  var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
  configuration.compaction = .init(.onDemand, historyByteCount: 0)
  if !sharing {
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
  }
  return try ModelContainer(
    for: Wharf.Crate.self,
    Wharf.Barrel.self,
    Wharf.Mark.self,
    Wharf.Berth.self,
    Wharf.DryDock.self,
    configurations: configuration
  )
}

@Suite struct `A batch that changes rows where they are` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What one batch does, and the same to one object; throws for a sum that the property cannot hold.
  private struct Change {
    let batch: (ModelContext, Predicate<Wharf.Crate>) throws -> BatchResult
    let object: (Wharf.Crate) throws -> Void
  }

  private struct Overflow: Error {}

  private static func sum<T: FixedWidthInteger>(_ value: T, _ amount: T) throws -> T {
    let (sum, overflow) = value.addingReportingOverflow(amount)
    if overflow { throw Overflow() }
    return sum
  }

  private static func change(_ random: inout SeededRandom) -> Change {
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let amount = Int8.random(in: -40...40, using: &random)
      return Change(
        batch: { try $0.batchUpdate(Wharf.Crate.self, where: $1, .add(amount, to: \.small)) },
        object: { $0.small = try sum($0.small, amount) }
      )
    case 1:
      let amount = UInt64.random(in: 0...(1 << 62), using: &random)
      return Change(
        batch: { try $0.batchUpdate(Wharf.Crate.self, where: $1, .add(amount, to: \.great)) },
        object: { $0.great = try sum($0.great, amount) }
      )
    case 2:
      let amount = Int.random(in: -(1 << 61)...(1 << 61), using: &random)
      return Change(
        batch: { try $0.batchUpdate(Wharf.Crate.self, where: $1, .add(amount, to: \.count)) },
        object: { $0.count = try $0.count.map { try sum($0, amount) } }
      )
    case 3:
      let amount = [0.25, -1e300, .infinity, .nan, -0.0].randomElement(using: &random) ?? 0
      let isOpen = Bool.random(using: &random)
      return Change(
        batch: {
          try $0.batchUpdate(
            Wharf.Crate.self,
            where: $1,
            .add(amount, to: \.weight),
            .set(\.isOpen, to: isOpen)
          )
        },
        object: {
          $0.weight += amount
          $0.isOpen = isOpen
        }
      )
    case 4:
      let amount = Float.random(in: -9...9, using: &random)
      let packed: Date? =
        Bool.random(using: &random) ? nil : Date(timeIntervalSinceReferenceDate: Double(amount))
      let seal: UUID? =
        Bool.random(using: &random)
        ? nil : UUID(uuidString: "6A52383E-D409-C6A7-69F1-C5064C160416")
      return Change(
        batch: {
          try $0.batchUpdate(
            Wharf.Crate.self,
            where: $1,
            .set(\.seal, to: seal),
            .add(amount, to: \.ratio),
            .set(\.packed, to: packed)
          )
        },
        object: {
          $0.seal = seal
          $0.ratio = $0.ratio.map { $0 + amount }
          $0.packed = packed
        }
      )
    case 5:
      let label = "label \(Int.random(in: 0..<100, using: &random))"
      return Change(
        batch: {
          try $0.batchUpdate(
            Wharf.Crate.self,
            where: $1,
            .set(\.label, to: label),
            .add(1, to: \.number)
          )
        },
        object: {
          $0.label = label
          $0.number += 1
        }
      )
    case 6:
      return Change(
        batch: {
          try $0.batchUpdate(
            Wharf.Crate.self,
            where: $1,
            .change(\.weight) { $0 / 2 },
            .set(\.note, to: nil)
          )
        },
        object: {
          $0.weight /= 2
          $0.note = nil
        }
      )
    default:
      let count: Int? = Bool.random(using: &random) ? nil : Int.random(in: -9...9, using: &random)
      return Change(
        batch: {
          try $0.batchUpdate(
            Wharf.Crate.self,
            where: $1,
            .set(\.count, to: count),
            .set(\.small, to: 3)
          )
        },
        object: {
          $0.count = count
          $0.small = 3
        }
      )
    }
  }

  private func describe(_ context: ModelContext) throws -> [String] {
    try context.fetch(FetchDescriptor<Wharf.Crate>()).map { crate in
      let litres = (crate as? Wharf.Barrel).map { "\($0.litres)" } ?? "-"
      return "\(crate.number) \(crate.small) \(crate.great) \(crate.count ?? -1) "
        + "\(crate.weight.bitPattern) \(crate.ratio?.bitPattern ?? 1) \(crate.isOpen) "
        + "\(crate.packed?.timeIntervalSinceReferenceDate ?? -1) "
        + "\(crate.seal?.uuidString ?? "-") \(crate.label) \(crate.note ?? "nil") \(litres)"
    }
  }

  private func fill(_ context: ModelContext, _ random: inout SeededRandom) throws {
    for number in 0..<Int.random(in: 1...120, using: &random) {
      let crate =
        Int.random(in: 0..<5, using: &random) == 0 ? Wharf.Barrel(number) : Wharf.Crate(number)
      crate.small = Int8.random(in: -100...100, using: &random)
      crate.great = UInt64.random(in: 0...(.max), using: &random) >> 1
      crate.count = Bool.random(using: &random) ? nil : Int.random(in: -99...99, using: &random)
      crate.weight = [1.5, -0.0, .nan, 1e-300].randomElement(using: &random) ?? 0
      crate.ratio = Bool.random(using: &random) ? nil : 0.5
      crate.label = String(repeating: "l", count: number % 7)
      crate.note = Bool.random(using: &random) ? nil : "note"
      context.insert(crate)
    }
    try context.save()
  }

  @Test(arguments: 0..<60)
  func `does what changing the objects one by one comes to`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let url = folder.url.appending(path: "batches.store")
    var container = try openWharf(url)
    let objects = try openWharf(folder.url.appending(path: "objects.store"))
    var twin = random
    try fill(ModelContext(container), &random)
    try fill(ModelContext(objects), &twin)
    var held = ModelContext(container)
    held.automaticallyMergesChanges = true
    _ = try describe(held)
    for round in 0..<8 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try container.stores(of: LogStore.self).first?.compact()
      case 1:
        try container.stores(of: LogStore.self).first?.close()
        container = try openWharf(url)
        held = ModelContext(container)
        held.automaticallyMergesChanges = true
        _ = try describe(held)
      default: break
      }
      let least = Int.random(in: 0..<60, using: &random)
      let predicate = #Predicate<Wharf.Crate> { $0.number >= least }
      let change = Self.change(&random)
      let worker = ModelContext(objects)
      let models = try worker.fetch(FetchDescriptor<Wharf.Crate>(predicate: predicate))
      let context = ModelContext(container)
      let before = try describe(context)
      do {
        for model in models { try change.object(model) }
        try worker.save()
        let result = try change.batch(context, predicate)
        #expect(result.updatedCount == models.count, "seed \(seed), round \(round)")
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(result.commitCount == min(models.count, 1), "seed \(seed), round \(round)")
        // Of a row that gets what it had, the history says nothing where the log has it whole.
        let after = try describe(ModelContext(container))
        let changedCount = zip(before, after).count { $0 != $1 }
        if !models.isEmpty {
          let told = try #require(history.last?.changes.count, "seed \(seed), round \(round)")
          #expect(changedCount...models.count ~= told, "seed \(seed), round \(round)")
        }
      } catch is Overflow {
        let error = #expect(throws: SwiftDataError.self) { try change.batch(context, predicate) }
        #expect(error == .aggregateOverflow, "seed \(seed), round \(round)")
      }
      let expected = try describe(ModelContext(objects))
      #expect(try describe(ModelContext(container)) == expected, "seed \(seed), round \(round)")
      #expect(try describe(held) == expected, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: 0..<12)
  func `adds to what another process has saved last`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let url = folder.url.appending(path: "shared.store")
    let containers = [try openWharf(url, sharing: false), try openWharf(url, sharing: false)]
    var sums = Array(repeating: 0, count: 50)
    try ModelContext(containers[0]).batchInsert(
      Wharf.Crate.self,
      \.number,
      \.count,
      rows: sums.indices.map { ($0, 0) }
    )
    for round in 0..<30 {
      let least = Int.random(in: 0..<50, using: &random)
      let amount = Int.random(in: -9...9, using: &random)
      let context = ModelContext(containers[Int.random(in: 0...1, using: &random)])
      try context.batchUpdate(
        Wharf.Crate.self,
        where: #Predicate { $0.number >= least },
        .add(amount, to: \.count)
      )
      for number in least..<50 { sums[number] += amount }
      let other = ModelContext(containers[Int.random(in: 0...1, using: &random)])
      let found = try other.fetch(FetchDescriptor<Wharf.Crate>(sortBy: [SortDescriptor(\.number)]))
      #expect(found.map(\.count) == sums, "seed \(seed), round \(round)")
    }
  }
}

@Suite struct `An upsert that looks its rows up` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private typealias Row = (place: String?, height: Double, seen: Int, note: String)

  /// The rows that a class should have, kept without a store.
  private struct Expectation {
    var keyed: [String: Row] = [:]
    var others: [Row] = []

    static func key(_ place: String?, _ height: Double) -> String? {
      guard let place, !height.isNaN else { return nil }
      return "\(place) \((height + 0).bitPattern)"
    }

    /// - Returns: How many rows are new, and how many are not.
    mutating func upsert(
      _ rows: [Row],
      step: Int,
      namesNote: Bool
    ) -> (inserted: Int, updated: Int) {
      var counts = (0, 0)
      for start in stride(from: 0, to: rows.count, by: step) {
        var met: [String: Bool] = [:]
        for row in rows[start..<min(start + step, rows.count)] {
          guard let key = Self.key(row.place, row.height) else {
            others.append(row)
            counts.0 += 1
            continue
          }
          if met[key] == nil { met[key] = keyed[key] != nil }
          var new = row
          if !namesNote { new.note = met[key] == true ? keyed[key]?.note ?? "-" : "-" }
          keyed[key] = new
        }
        counts.0 += met.values.count { !$0 }
        counts.1 += met.values.count { $0 }
      }
      return counts
    }

    var all: [String] {
      (others + keyed.values).map { "\($0.place ?? "nil") \($0.height + 0) \($0.seen) \($0.note)" }
        .sorted()
    }
  }

  private func describe(_ container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Wharf.Mark>()).map {
      "\($0.place ?? "nil") \($0.height + 0) \($0.seen) \($0.note)"
    }
    .sorted()
  }

  private func rows(_ round: Int, _ random: inout SeededRandom) -> [Row] {
    (0..<Int.random(in: 1...90, using: &random)).map { number in
      let place = Int.random(in: 0..<9, using: &random)
      let height = [0.0, -0.0, 1, 2, .nan].randomElement(using: &random) ?? 0
      return (place == 0 ? nil : "pier \(place)", height, round * 1000 + number, "n\(number)")
    }
  }

  @Test(arguments: 0..<60)
  func `comes to what looking for each row in turn does`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let url = folder.url.appending(path: "marks.store")
    var container = try openWharf(url)
    var expected = Expectation()
    for round in 0..<8 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try container.stores(of: LogStore.self).first?.compact()
      case 1:
        try container.stores(of: LogStore.self).first?.close()
        container = try openWharf(url)
      case 2:
        let place = "pier \(Int.random(in: 1..<9, using: &random))"
        let gone = #Predicate<Wharf.Mark> { $0.place == place }
        try ModelContext(container).batchDelete(Wharf.Mark.self, where: gone)
        expected.keyed = expected.keyed.filter { $0.value.place != place }
        expected.others.removeAll { $0.place == place }
      case 3:
        // A key that an object gives up is free for another row.
        let context = ModelContext(container)
        if let mark = try context.fetch(FetchDescriptor<Wharf.Mark>()).first(where: {
          Expectation.key($0.place, $0.height) != nil
        }), let key = Expectation.key(mark.place, mark.height), var row = expected.keyed[key] {
          let place = "moved \(round)"
          mark.place = place
          try context.save()
          expected.keyed[key] = nil
          row.place = place
          expected.keyed[Expectation.key(place, row.height) ?? ""] = row
        }
      default: break
      }
      let rows = rows(round, &random)
      let step = Int.random(in: 1...100, using: &random)
      let namesNote = Bool.random(using: &random)
      let context = ModelContext(container)
      let result =
        if namesNote {
          try context.batchUpsert(
            Wharf.Mark.self,
            \.seen,
            \.height,
            \.note,
            \.place,
            rows: rows.map { ($0.seen, $0.height, $0.note, $0.place) },
            commitEvery: step
          )
        } else {
          try context.batchUpsert(
            Wharf.Mark.self,
            \.place,
            \.height,
            \.seen,
            rows: rows.map { ($0.place, $0.height, $0.seen) },
            commitEvery: step
          )
        }
      let counts = expected.upsert(rows, step: step, namesNote: namesNote)
      if !namesNote {
        for place in expected.others.indices where expected.others[place].seen >= round * 1000 {
          expected.others[place].note = "-"
        }
      }
      #expect(result.insertedCount == counts.inserted, "seed \(seed), round \(round)")
      #expect(result.updatedCount == counts.updated, "seed \(seed), round \(round)")
      #expect(try describe(container) == expected.all, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: 0..<8)
  func `updates what another process has inserted`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let url = folder.url.appending(path: "shared.store")
    let containers = [try openWharf(url, sharing: false), try openWharf(url, sharing: false)]
    var expected = Expectation()
    for round in 0..<12 {
      let rows = rows(round, &random)
      let context = ModelContext(containers[Int.random(in: 0...1, using: &random)])
      try context.batchUpsert(
        Wharf.Mark.self,
        \.place,
        \.height,
        \.seen,
        \.note,
        rows: rows.map { ($0.place, $0.height, $0.seen, $0.note) }
      )
      _ = expected.upsert(rows, step: .max, namesNote: true)
      let other = containers[Int.random(in: 0...1, using: &random)]
      #expect(try describe(other) == expected.all, "seed \(seed), round \(round)")
    }
  }

  @Test func `gives each value to one row, also if several threads bring it at once`() throws {
    let container = try openWharf(folder.url.appending(path: "beside.store"))
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        for round in 0..<10 {
          try ModelContext(container).batchUpsert(
            Wharf.Berth.self,
            \.code,
            \.length,
            rows: (0..<40).map { ("\((round * 10 + $0) % 100)", thread) }
          )
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let codes = try ModelContext(container).fetch(FetchDescriptor<Wharf.Berth>()).map(\.code)
    #expect(codes.count == 100)
    #expect(Set(codes).count == 100)
  }

  @Test func `refuses the value of a model of another class`() throws {
    let container = try openWharf(folder.url.appending(path: "classes.store"))
    let context = ModelContext(container)
    try context.batchInsert(Wharf.DryDock.self, \.code, \.length, rows: [("A", 9)])
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchUpsert(Wharf.Berth.self, \.code, \.length, rows: [("B", 1), ("A", 2)])
    }
    #expect((error?.underlyingError as? UniquenessConflict)?.reason == .otherClass)
    #expect(try context.fetchCount(FetchDescriptor<Wharf.Berth>()) == 1)
    try context.batchUpsert(Wharf.DryDock.self, \.code, \.length, rows: [("A", 7)])
    let docks = try ModelContext(container).fetch(FetchDescriptor<Wharf.DryDock>())
    #expect(docks.map(\.length) == [7])
  }
}
