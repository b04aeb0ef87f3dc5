import Foundation
import LogEngineTestSupport
import LogStore
import SwiftData
import Testing

private enum Pairing {
  @Model class Pilot {
    #Unique<Pilot>([\.code])
    var code: Int
    var plane: Plane?
    init(_ code: Int) { self.code = code }
  }

  @Model final class Captain: Pilot {
    var stars: Int
    init(_ code: Int, stars: Int) {
      self.stars = stars
      super.init(code)
    }
  }

  @Model final class Plane {
    var number: Int
    @Relationship(inverse: \Pilot.plane) var pilot: Pilot?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Person {
    var name: String
    var mentor: Person?
    @Relationship(inverse: \Person.mentor) var student: Person?
    init(_ name: String) { self.name = name }
  }

  static let schema = Schema([Pilot.self, Captain.self, Plane.self, Person.self])

  /// The plane of each pilot, and the pilot of each plane, as the store has them.
  static func pairs(_ container: ModelContainer) throws -> (planes: [Int: Int], pilots: [Int: Int])
  {
    let context = ModelContext(container)
    var (planes, pilots): ([Int: Int], [Int: Int]) = ([:], [:])
    for pilot in try context.fetch(FetchDescriptor<Pilot>()) {
      planes[pilot.code] = pilot.plane?.number
    }
    for plane in try context.fetch(FetchDescriptor<Plane>()) {
      pilots[plane.number] = plane.pilot?.code
    }
    return (planes, pilots)
  }

  static func plane(_ number: Int, _ context: ModelContext) throws -> Plane {
    let planes = FetchDescriptor<Plane>(predicate: #Predicate { $0.number == number })
    return try #require(try context.fetch(planes).first)
  }
}

private typealias Pilot = Pairing.Pilot
private typealias Plane = Pairing.Plane

@Suite struct `Batches that set one-to-one relationships` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Pairing.schema,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    for number in 1...4 {
      context.insert(Plane(number))
      context.insert(number == 2 ? Pairing.Captain(number, stars: 1) : Pilot(number))
    }
    try context.save()
    try Pairing.plane(1, context).pilot = pilot(1)
    try Pairing.plane(2, context).pilot = pilot(2)
    try context.save()
  }

  private func pilot(_ code: Int) throws -> Pilot {
    let pilots = FetchDescriptor<Pilot>(predicate: #Predicate { $0.code == code })
    return try #require(try context.fetch(pilots).first)
  }

  private func plane(_ number: Int) throws -> Plane { try Pairing.plane(number, context) }

  private func expect(_ expected: [Int: Int], _ location: SourceLocation = #_sourceLocation) throws
  {
    let found = try Pairing.pairs(container)
    #expect(found.planes == expected, sourceLocation: location)
    let inverse = Dictionary(uniqueKeysWithValues: expected.map { ($1, $0) })
    #expect(found.pilots == inverse, sourceLocation: location)
  }

  @Test func `write the other end of rows that they insert`() throws {
    let observed = try plane(3)
    let rows = [(5, try plane(1) as Plane?), (6, try plane(3)), (7, nil)]
    let result = try context.batchInsert(Pilot.self, \.code, \.plane, rows: rows)
    #expect((result.insertedCount, result.updatedCount) == (3, 0))
    try expect([5: 1, 2: 2, 6: 3])
    // The objects of the other ends follow.
    #expect(observed.pilot?.code == 6)
    #expect(try pilot(1).plane == nil)
  }

  @Test func `take the pairs apart that an update replaces`() throws {
    try context.batchUpdate(
      Pilot.self,
      where: #Predicate { $0.code == 1 },
      .set(\.plane, to: try plane(2))
    )
    try expect([1: 2])
    try context.batchUpdate(
      Plane.self,
      where: #Predicate { $0.number == 2 },
      .set(\.pilot, to: try pilot(2))
    )
    try expect([2: 2])
    try context.batchUpdate(Pilot.self, .set(\.plane, to: nil))
    try expect([:])
  }

  @Test func `write the other end of rows that they upsert`() throws {
    // The plane of the captain, whom a batch of pilots cannot update, goes to a pilot.
    let rows = [(1, try plane(2) as Plane?), (3, try plane(1)), (9, try plane(4))]
    let result = try context.batchUpsert(Pilot.self, \.code, \.plane, rows: rows)
    #expect((result.insertedCount, result.updatedCount) == (1, 2))
    try expect([1: 2, 3: 1, 9: 4])
  }

  @Test func `give one model to one row, and write nothing otherwise`() throws {
    let plane = try plane(3)
    #expect {
      try context.batchUpdate(Pilot.self, .set(\.plane, to: plane))
    } throws: {
      $0 as? SwiftDataError == .modelValidationFailure && "\($0)".contains("plane")
    }
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchInsert(Pilot.self, \.code, \.plane, rows: [(7, plane), (8, plane)])
    }
    try expect([1: 1, 2: 2])
  }

  @Test func `refuse a relationship of a class with itself`() throws {
    let person = Pairing.Person("Ann")
    context.insert(person)
    try context.save()
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try context.batchInsert(Pairing.Person.self, \.name, \.mentor, rows: [("Ben", person)])
    }
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try context.batchUpdate(Pairing.Person.self, .set(\.student, to: person))
    }
  }

  @Test func `take apart the pairs of rows that they delete`() throws {
    try context.batchDelete(Pilot.self, where: #Predicate { $0.code == 1 })
    try expect([2: 2])
    #expect(try plane(1).pilot == nil)
  }
}

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `Batches of several processes that set one-to-one relationships` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Pairing.schema,
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `leave both ends in agreement, beside saves`(seed: UInt64) async throws {
    let containers = try (0..<3).map { _ in try open() }
    let context = ModelContext(containers[0])
    for number in 0..<3 {
      context.insert(Plane(number))
      context.insert(Pilot(number))
    }
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, container) in containers.enumerated() {
        group.addTask {
          try Self.run(container, SeededGenerator(seed: seed).forked(UInt64(number)))
        }
      }
      try await group.waitForAll()
    }
    for container in containers {
      let (planes, pilots) = try Pairing.pairs(container)
      let inverse = Dictionary(uniqueKeysWithValues: planes.map { ($1, $0) })
      #expect(pilots == inverse, "seed \(seed)")
    }
  }

  private static func run(_ container: ModelContainer, _ generator: SeededGenerator) throws {
    var chance = generator
    for _ in 0..<60 {
      let context = ModelContext(container)
      let code = Int.random(in: 0..<3, using: &chance)
      let plane = try Pairing.plane(Int.random(in: 0..<3, using: &chance), context)
      switch Int.random(in: 0..<4, using: &chance) {
      case 0:
        try context.batchUpdate(
          Pilot.self,
          where: #Predicate { $0.code == code },
          .set(\.plane, to: plane)
        )
      case 1: try context.batchUpsert(Pilot.self, \.code, \.plane, rows: [(code, plane)])
      case 2:
        try context.batchUpdate(
          Pilot.self,
          where: #Predicate { $0.code == code },
          .set(\.plane, to: nil)
        )
      default:
        let pilots = FetchDescriptor<Pilot>(predicate: #Predicate { $0.code == code })
        try #require(try context.fetch(pilots).first).plane = plane
        try context.save()
      }
    }
  }
}
