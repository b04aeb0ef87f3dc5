import SwiftData
import Testing

@testable import LogStore

@Suite struct `A fetch by an indexed property` {
  let context: ModelContext
  static let places = [
    "", "Oslo", "Osl", "Oslo-East", "caf\u{e9}", "cafe\u{301}", "Москва", "Москва-Сити", "東京",
    "東京都",
    "customer-0000001", "customer-0000002", "customer-0000", "\u{212A}elvin", "Kelvin",
  ]
  static let codes = (0..<5).map { number in
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: indexedSchema,
        configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
      )
    )
    var random = SeededRandom(seed: 4)
    for _ in 0..<600 { context.insert(makeMeasurement(&random)) }
    try context.save()
  }

  func makeMeasurement(_ random: inout SeededRandom) -> Measurement {
    let value = random.next(below: 300) - 150
    let place = Self.places[random.next(below: Self.places.count)]
    let level = Double(random.next(below: 40)) / 4 - 5
    let taken = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 1000)))
    let made =
      random.next(below: 10) == 0
      ? Calibration(value, place: place, level: level, taken: taken)
      : Measurement(value, place: place, level: level, taken: taken)
    made.rank = Rank.allCases[random.next(below: 3)]
    made.note = random.next(below: 3) == 0 ? nil : "note \(random.next(below: 50))"
    made.code = random.next(below: 3) == 0 ? nil : Self.codes[random.next(below: 5)]
    return made
  }

  /// Changes, adds and deletes some, as an app does between two fetches.
  func shuffle(_ random: inout SeededRandom) throws {
    let all = try context.fetch(FetchDescriptor<Measurement>())
    for measurement in all {
      switch random.next(below: 12) {
      case 0: measurement.value = random.next(below: 300) - 150
      case 1: measurement.place = Self.places[random.next(below: Self.places.count)]
      case 2: measurement.level += 0.25
      case 3: measurement.note = nil
      case 4: context.delete(measurement)
      default: break
      }
    }
    for _ in 0..<60 { context.insert(makeMeasurement(&random)) }
    try context.save()
  }

  @Test(arguments: 0..<4)
  func `finds what looking at all models finds`(round: Int) throws {
    var random = SeededRandom(seed: UInt64(round + 100))
    for _ in 0..<4 {
      let all = try context.fetch(FetchDescriptor<Measurement>())
      for predicate in predicates(&random) {
        let expected = try all.filter { try predicate.evaluate($0) }
        let found = try context.fetch(FetchDescriptor(predicate: predicate))
        #expect(
          Set(found.map(\.persistentModelID)) == Set(expected.map(\.persistentModelID)),
          "round \(round): \(predicate)"
        )
        #expect(found.count == expected.count)
        #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count)
      }
      try shuffle(&random)
    }
  }

  func predicates(_ random: inout SeededRandom) -> [Predicate<Measurement>] {
    let low = random.next(below: 300) - 150
    let high = low + random.next(below: 20)
    let place = Self.places[random.next(below: Self.places.count)]
    let other = Self.places[random.next(below: Self.places.count)]
    let level = Double(random.next(below: 40)) / 4 - 5
    let day = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 1000)))
    let end = day.addingTimeInterval(40)
    let rank = Rank.allCases[random.next(below: 3)]
    let note = "note \(random.next(below: 50))"
    let code = Self.codes[random.next(below: 5)]
    let values = [low, low + 3, high]
    return [
      #Predicate { $0.value == low },
      #Predicate { $0.value >= low && $0.value < high },
      #Predicate { $0.value > low && $0.value <= high && $0.other == 0 },
      #Predicate { low == $0.value || $0.value == high },
      #Predicate { values.contains($0.value) },
      #Predicate { $0.place == place },
      #Predicate { $0.place == place && $0.level == level },
      #Predicate { ($0.place == place || $0.place == other) && $0.level == level },
      #Predicate { $0.place.starts(with: place) && $0.value == low },
      #Predicate { $0.place > place && $0.place <= other },
      #Predicate { $0.taken >= day && $0.taken < end },
      #Predicate { $0.rank == rank && $0.value == low },
      #Predicate { $0.note == note },
      #Predicate { $0.note == nil && $0.value == low },
      #Predicate { $0.code == code && $0.value > low },
      #Predicate { $0.value == low && $0.place != place },
      #Predicate { !($0.value == low) && $0.value == high },
      #Predicate { $0.value == low || ($0.value == high && $0.place == place) },
      #Predicate { $0.value > low || ($0.value == low && $0.place > place) },
      #Predicate { ($0.value > low && $0.value < high) || ($0.level == level && $0.value == low) },
      #Predicate { ($0.place == place && $0.value == low) || ($0.place == other && $0.other == 1) },
      #Predicate { ($0.note ?? "").contains(note) || $0.value == low },
      #Predicate { !($0.note ?? "no note").contains("no") && $0.place == place },
    ]
  }

  @Test(arguments: [SortOrder.forward, .reverse])
  func `with a sort and a limit finds the same as sorting all`(order: SortOrder) throws {
    var random = SeededRandom(seed: 7)
    for _ in 0..<3 {
      for sort in sorts(order) {
        var descriptor = FetchDescriptor<Measurement>(sortBy: sort)
        let all = try context.fetch(descriptor).map(\.persistentModelID)
        descriptor.fetchOffset = 3
        for limit in [1, 5, 40] {
          let expected = Array(all.dropFirst(3).prefix(limit))
          descriptor.fetchLimit = limit
          descriptor.predicate = nil
          #expect(try context.fetch(descriptor).map(\.persistentModelID) == expected)
          descriptor.predicate = #Predicate { $0.other == 0 }
          #expect(try context.fetch(descriptor).map(\.persistentModelID) == expected)
          descriptor.predicate = #Predicate { $0.other == 1 }
          #expect(try context.fetch(descriptor).isEmpty)
        }
      }
      try shuffle(&random)
    }
  }

  func sorts(_ order: SortOrder) -> [[SortDescriptor<Measurement>]] {
    [
      [SortDescriptor(\.value, order: order)],
      [SortDescriptor(\.place, comparator: .lexical, order: order), SortDescriptor(\.value)],
      [SortDescriptor(\.taken, order: order), SortDescriptor(\.level, order: .reverse)],
      [SortDescriptor(\.note, order: order), SortDescriptor(\.value)],
    ]
  }

  @Test(arguments: [SortOrder.forward, .reverse], [false, true])
  func `has a place for NaN, behind all numbers`(order: SortOrder, hasFilter: Bool) throws {
    for number in 0..<100 {
      let taken = Date(timeIntervalSinceReferenceDate: .nan)
      let made = Measurement(0, place: "", level: number % 2 == 0 ? .nan : 7, taken: taken)
      made.other = 1
      context.insert(made)
    }
    try context.save()
    for sort in [
      [SortDescriptor(\Measurement.taken, order: order)],
      [SortDescriptor(\.level, order: order), SortDescriptor(\.value)],
    ] {
      var descriptor = FetchDescriptor<Measurement>(sortBy: sort)
      let all = try context.fetch(descriptor).map(\.persistentModelID)
      #expect(all.count == 700)
      if hasFilter { descriptor.predicate = #Predicate { $0.other < 2 } }
      var pages: [PersistentIdentifier] = []
      descriptor.fetchLimit = 32
      while pages.count < all.count {
        descriptor.fetchOffset = pages.count
        let page = try context.fetch(descriptor).map(\.persistentModelID)
        #expect(!page.isEmpty)
        if page.isEmpty { break }
        pages += page
      }
      // Each row once, and each where the whole sort has it.
      #expect(pages == all)
    }
    let ends = try context.fetch(
      FetchDescriptor(sortBy: [SortDescriptor(\Measurement.taken, order: order)])
    )
    #expect((order == .forward ? ends.last : ends.first)?.taken.timeIntervalSince1970.isNaN == true)
    #expect(
      (order == .forward ? ends.first : ends.last)?.taken.timeIntervalSince1970.isNaN == false
    )
    let day = Date(timeIntervalSinceReferenceDate: 500)
    let all = try context.fetch(FetchDescriptor<Measurement>())
    for (late, count) in [
      (#Predicate<Measurement> { $0.taken > day }, all.filter { $0.taken > day }.count),
      (#Predicate<Measurement> { $0.taken < day }, all.filter { $0.taken < day }.count),
      (#Predicate<Measurement> { !($0.taken < day) }, all.filter { !($0.taken < day) }.count),
    ] {
      #expect(try context.fetchCount(FetchDescriptor(predicate: late)) == count)
    }
  }
}

@Suite struct `An index that several threads use` {
  @Test func `misses nothing that was saved before`() async throws {
    let container = try ModelContainer(
      for: indexedSchema,
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<4 {
        group.addTask { try IndexWriter(container, task).run() }
      }
      for try await missed in group { #expect(missed == 0) }
    }
    let context = ModelContext(container)
    let odd = #Predicate<Measurement> { $0.value >= 1000 && $0.value < 2000 }
    let all = try context.fetch(FetchDescriptor<Measurement>())
    #expect(
      try context.fetchCount(FetchDescriptor(predicate: odd))
        == all.filter { 1000..<2000 ~= $0.value }.count
    )
  }
}

/// Saves models, changes them, and looks each time whether it finds its own.
private struct IndexWriter {
  let context: ModelContext
  let task: Int

  init(_ container: ModelContainer, _ task: Int) {
    context = ModelContext(container)
    self.task = task
  }

  /// - Returns: How often something was not found.
  func run() throws -> Int {
    var missed = 0
    for round in 0..<60 {
      let value = task * 1000 + round
      let models = (0..<5).map { _ in
        Measurement(value, place: "place \(task)", level: Double(round), taken: .distantPast)
      }
      for model in models { context.insert(model) }
      try context.save()
      models[0].value = value + 500
      context.delete(models[1])
      try context.save()
      let moved = value + 500
      let found = try context.fetchCount(
        FetchDescriptor<Measurement>(predicate: #Predicate { $0.value == value })
      )
      let changed = try context.fetchCount(
        FetchDescriptor<Measurement>(predicate: #Predicate { $0.value == moved })
      )
      missed += found == 3 && changed >= 1 ? 0 : 1
    }
    return missed
  }
}

@Suite struct `An index of a store` {
  let folder: TemporaryFolder
  let store: LogStore
  let state = EditingState()

  init() throws {
    folder = try TemporaryFolder()
    store = try LogStore(
      LogStoreConfiguration(
        schema: indexedSchema,
        url: folder.url.appending(path: "index.store"),
        durability: .relaxed
      ),
      migrationPlan: nil
    )
  }

  func fill(_ values: Range<Int>) throws {
    var none: [PersistentIdentifier: any BackingData] = [:]
    let snapshots = values.map { value in
      DefaultSnapshot(
        from: Measurement(value, place: "p\(value)", level: 0, taken: .distantPast)
          .persistentBackingData,
        relatedBackingDatas: &none
      )
    }
    _ = try store.save(
      DataStoreSaveChangesRequest(
        inserted: snapshots,
        updated: [],
        deleted: [],
        editingState: state
      )
    )
  }

  func count(_ predicate: Predicate<Measurement>) throws -> Int {
    try store.fetchCount(
      DataStoreFetchRequest(descriptor: FetchDescriptor(predicate: predicate), editingState: state)
    )
  }

  /// The columns of the indexes that exist.
  var built: [[Int]] {
    store.tables.indexes.values.filter(\.isBuilt).map { index in
      guard case .values(_, let columns) = index.definition else { return [] }
      return columns.map(\.number)
    }
  }

  @Test func `is made when the first fetch can use it, and only then`() throws {
    try fill(0..<1000)
    #expect(built.isEmpty)
    #expect(try count(#Predicate { $0.other == 3 }) == 0)
    #expect(built.isEmpty)
    #expect(try count(#Predicate { $0.value == 3 }) == 1)
    #expect(built == [[0]])
    try fill(1000..<1100)
    #expect(try count(#Predicate { $0.value == 1050 }) == 1)
    #expect(built == [[0]])
  }

  @Test func `is not made for a table that is read in no time`() throws {
    try fill(0..<20)
    #expect(try count(#Predicate { $0.value == 3 }) == 1)
    #expect(built.isEmpty)
  }

  @Test func `is made anew after the store was erased`() throws {
    try fill(0..<1000)
    #expect(try count(#Predicate { $0.value == 3 }) == 1)
    try store.erase()
    try fill(0..<500)
    #expect(try count(#Predicate { $0.value < 3 }) == 3)
  }
}
