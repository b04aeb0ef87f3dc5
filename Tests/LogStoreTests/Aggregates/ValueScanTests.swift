import Foundation
import LogEngine
import SwiftData
import Testing

@testable import LogStore

private enum Mood: String, Codable {
  case fine
  case bad
}

@Model private final class Pilot {
  var name: String

  init(_ name: String) { self.name = name }
}

@Model private class Ride {
  var number: Int
  var small: Int16
  var price: Double
  var weight: Float?
  var note: String?
  var isPaid: Bool
  var at: Date
  var code: UUID
  var link: URL?
  var mood: Mood
  var former: Mood?
  var pilot: Pilot?

  init(_ number: Int, _ pilot: Pilot?) {
    self.number = number
    small = Int16(number % 300)
    price = Double(number) / 8
    weight = number % 3 == 0 ? nil : Float(number)
    note = number % 4 == 0 ? nil : "note \(number % 13), a long one that is kept beside others"
    isPaid = number % 2 == 0
    at = Date(timeIntervalSinceReferenceDate: Double(number))
    code = UUID()
    link = number % 5 == 0 ? nil : URL(string: "https://example.org/\(number)")
    mood = number % 3 == 0 ? .bad : .fine
    former = number % 6 == 0 ? nil : .fine
    self.pilot = pilot
  }
}

@Model private final class LongRide: Ride {
  var days: Int

  init(_ number: Int, days: Int) {
    self.days = days
    super.init(number, nil)
  }
}

/// A ride's properties, as a tuple that can be compared.
private struct Properties: Equatable {
  let number: Int
  let small: Int16
  let price: Double
  let weight: Float?
  let note: String?
  let isPaid: Bool
  let at: Date
  let code: UUID
  let link: URL?
  let mood: Mood
  let former: Mood?
  let pilot: String?
}

@Suite struct `Properties of models that are fetched without objects` {
  private static let count = 3_000
  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "rides.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    container = try ModelContainer(
      for: Ride.self,
      LongRide.self,
      Pilot.self,
      configurations: configuration
    )
    let context = ModelContext(container)
    let pilots = (0..<10).map { Pilot("pilot \($0)") }
    for number in 0..<Self.count {
      context.insert(Ride(number, number % 7 == 0 ? nil : pilots[number % 10]))
    }
    for number in 0..<500 { context.insert(LongRide(number, days: number)) }
    try context.save()
  }

  /// Changes and deletes some rides, so that rows of the log lie between those of packs.
  private func change() throws {
    let context = ModelContext(container)
    for (place, ride) in try context.fetch(FetchDescriptor<Ride>()).enumerated() {
      if place % 7 == 0 { ride.price += 1 }
      if place % 11 == 0 { context.delete(ride) }
    }
    try context.save()
  }

  private func expectSame(
    _ descriptor: FetchDescriptor<Ride>,
    in context: ModelContext? = nil
  ) throws {
    let context = context ?? ModelContext(container)
    let found = try context.fetch(
      descriptor,
      \.number,
      \.small,
      \.price,
      \.weight,
      \.note,
      \.isPaid,
      \.at,
      \.code,
      \.link,
      \.mood,
      \.former,
      \.pilot?.name
    ).map(Properties.init)
    let expected = try context.fetch(descriptor).map {
      Properties(
        number: $0.number,
        small: $0.small,
        price: $0.price,
        weight: $0.weight,
        note: $0.note,
        isPaid: $0.isPaid,
        at: $0.at,
        code: $0.code,
        link: $0.link,
        mood: $0.mood,
        former: $0.former,
        pilot: $0.pilot?.name
      )
    }
    #expect(!expected.isEmpty)
    #expect(found == expected)
  }

  @Test(arguments: [false, true], [false, true])
  func `are those of the objects, in their order`(isPacked: Bool, isChanged: Bool) throws {
    if isPacked {
      let store = try #require(container.stores(of: LogStore.self).first)
      try store.compact()
      #expect(!store.statistics().packs.isEmpty)
    }
    if isChanged { try change() }
    var descriptor = FetchDescriptor<Ride>()
    let isPaid = #Predicate<Ride> { $0.isPaid }
    let hasNoNote = #Predicate<Ride> { $0.note == nil }
    let isFlown = #Predicate<Ride> { $0.pilot?.name == "pilot 3" }
    let isFifth = #Predicate<Ride> { $0.number % 5 == 2 }
    let predicates: [Predicate<Ride>?] = [nil, isPaid, hasNoNote, isFlown, isFifth]
    for predicate in predicates {
      descriptor.predicate = predicate
      descriptor.sortBy = []
      try expectSame(descriptor)
      descriptor.fetchOffset = 40
      descriptor.fetchLimit = 30
      try expectSame(descriptor)
      descriptor.fetchOffset = nil
      descriptor.fetchLimit = nil
      descriptor.sortBy = [SortDescriptor(\.note), SortDescriptor(\.number, order: .reverse)]
      try expectSame(descriptor)
      // More rows are read than are among the first.
      descriptor.fetchOffset = 5
      descriptor.fetchLimit = 20
      try expectSame(descriptor)
      descriptor.fetchOffset = nil
      descriptor.fetchLimit = nil
    }
  }

  /// Changes that a context has not saved.
  enum Unsaved: CaseIterable { case new, changed, changedElsewhere, deleted, pilot }

  private func change(_ unsaved: Unsaved, in context: ModelContext) throws {
    let rides = try context.fetch(FetchDescriptor<Ride>())
    let pilot = rides[1].pilot
    switch unsaved {
    case .new:
      for number in 0..<40 {
        context.insert(number % 3 == 0 ? LongRide(number, days: 1) : Ride(number, pilot))
      }
    case .changed:
      for ride in rides.prefix(30) { (ride.price, ride.isPaid) = (-1, !ride.isPaid) }
    case .changedElsewhere: for ride in rides.prefix(30) { ride.former = nil }
    case .deleted: for ride in rides.prefix(30) { context.delete(ride) }
    case .pilot: pilot?.name = "another"
    }
  }

  @Test(arguments: Unsaved.allCases)
  func `are those of the objects beside unsaved changes`(unsaved: Unsaved) throws {
    let context = ModelContext(container)
    try change(unsaved, in: context)
    if unsaved == .pilot { try change(.new, in: context) }
    var descriptor = FetchDescriptor<Ride>()
    let isPaid = #Predicate<Ride> { $0.isPaid }
    let isFifth = #Predicate<Ride> { $0.number % 5 == 2 }
    for predicate in [nil, isPaid, isFifth] {
      descriptor.predicate = predicate
      for limit in [nil, 10, 703, 3_530] {
        for offset in [nil, 5, 3_300] where offset ?? 0 < limit ?? .max && predicate == nil {
          (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset)
          try expectSame(descriptor, in: context)
        }
        (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, nil)
        try expectSame(descriptor, in: context)
      }
    }
  }

  @Test(arguments: [.new, .changedElsewhere] as [Unsaved])
  func `are read from columns beside changes of other properties, or new models`(
    unsaved: Unsaved
  ) throws {
    let context = ModelContext(container)
    try change(unsaved, in: context)
    let (count, plans) = try context.explain {
      try context.fetch(FetchDescriptor<Ride>(), \.price, \.note).count
    }
    #expect(count == (unsaved == .new ? 3_540 : 3_500))
    #expect(plans.flatMap(\.accesses).allSatisfy { $0.readRowCount == 0 }, "\(plans)")
  }

  @Test func `are read from columns, and no row is`() throws {
    let context = ModelContext(container)
    try container.stores(of: LogStore.self).first?.compact()
    let (count, plans) = try context.explain {
      try context.fetch(FetchDescriptor<Ride>(predicate: #Predicate { $0.isPaid }), \.price, \.note)
        .count
    }
    #expect(count == 1_750)
    #expect(plans.flatMap(\.accesses).allSatisfy { $0.readRowCount == 0 }, "\(plans)")
  }
}
