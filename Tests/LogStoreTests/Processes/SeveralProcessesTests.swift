import Foundation
import LogEngineTestSupport
import LogStore
import Synchronization
import SwiftData
import Testing

@Model final class Meter {
  #Unique<Meter>([\.name])
  #Index<Meter>([\.count], [\.place])
  var name: String
  var count: Int = 0
  var place: String = ""
  @Relationship(deleteRule: .cascade, inverse: \Tally.meter) var tallies: [Tally] = []

  init(_ name: String, count: Int = 0, place: String = "") {
    self.name = name
    self.count = count
    self.place = place
  }
}

@Model final class Tally {
  var number: Int
  var picture: Data?
  var meter: Meter?

  init(_ number: Int) { self.number = number }
}

@Model final class Crew {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Pennant.crews) var pennants: [Pennant] = []
  @Relationship(inverse: \Captain.crew) var captain: Captain?

  init(_ name: String) { self.name = name }
}

@Model final class Pennant {
  @Attribute(.unique) var name: String
  var crews: [Crew] = []

  init(_ name: String) { self.name = name }
}

@Model final class Captain {
  @Attribute(.unique) var name: String
  var crew: Crew?

  init(_ name: String) { self.name = name }
}

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `Containers of several processes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(
    _ durability: LogStoreConfiguration.Durability = .relaxed
  ) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration.ofAnotherProcess(in: folder, durability: durability)
    configuration.externalStorageThreshold = 64
    return configuration
  }

  private func open() throws -> ModelContainer {
    try ModelContainer(for: Meter.self, Tally.self, configurations: configuration())
  }

  @Test func `delete with a predicate what others have saved, without having read it before`()
    throws
  {
    let containers = try (open(), open())
    let other = ModelContext(containers.1)
    for number in 0..<3 { other.insert(Meter("\(number)", count: number)) }
    try other.save()
    let store = try #require(containers.0.stores(of: LogStore.self).first)
    try store.delete(
      DataStoreBatchDeleteRequest<Meter>(
        predicate: #Predicate { $0.count > 0 },
        includeSubclasses: true,
        editingState: EditingState()
      )
    )
    for container in [containers.0, containers.1] {
      let left = try ModelContext(container).fetch(FetchDescriptor<Meter>())
      #expect(left.map(\.name) == ["0"])
    }
  }

  @Test func `delete a model that all of them go on referring to`() throws {
    let containers = try (0..<2).map { _ in try open() }
    for round in 0..<5 {
      let context = ModelContext(containers[round % 2])
      let meter = Meter("\(round)")
      context.insert(meter)
      try context.save()
      let isGone = Atomic(false)
      let added = Atomic(0)
      let referrers = DispatchGroup()
      for container in containers + containers {
        DispatchQueue(label: "referrer").async(group: referrers) {
          while !isGone.load(ordering: .acquiring) {
            do {
              let own = ModelContext(container)
              let tally = Tally(round)
              own.insert(tally)
              guard let meter = try own.fetch(FetchDescriptor<Meter>()).first else { continue }
              tally.meter = meter
              try own.save()
              added.add(1, ordering: .relaxed)
            } catch {
              // The meter was deleted meanwhile.
              #expect(error as? SwiftDataError == .modelValidationFailure)
            }
          }
        }
      }
      while added.load(ordering: .relaxed) < 20 {}
      context.delete(meter)
      try context.save()
      isGone.store(true, ordering: .releasing)
      referrers.wait()
      let fresh = ModelContext(containers[(round + 1) % 2])
      #expect(try fresh.fetchCount(FetchDescriptor<Meter>()) == 0)
      #expect(try fresh.fetchCount(FetchDescriptor<Tally>()) == 0)
    }
  }

  /// Relationships that are stored at both ends, which a save corrects.
  @Test(arguments: 1...4)
  func `leave both ends of a relationship in agreement`(seed: UInt64) async throws {
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Crew.self,
        Pennant.self,
        Captain.self,
        configurations: configuration()
      )
    }
    let containers = try (0..<3).map { _ in try open() }
    let context = ModelContext(containers[0])
    for number in 0..<3 {
      context.insert(Crew("\(number)"))
      context.insert(Pennant("\(number)"))
      context.insert(Captain("\(number)"))
    }
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, container) in containers.enumerated() {
        group.addTask {
          var chance = SeededGenerator(seed: seed).forked(UInt64(number))
          for _ in 0..<60 {
            let context = ModelContext(container)
            let crews = try context.fetch(FetchDescriptor<Crew>())
            let pennants = try context.fetch(FetchDescriptor<Pennant>())
            let captains = try context.fetch(FetchDescriptor<Captain>())
            let crew = try #require(crews.randomElement(using: &chance))
            let pennant = try #require(pennants.randomElement(using: &chance))
            if Bool.random(using: &chance) {
              if crew.pennants.contains(pennant) {
                crew.pennants.removeAll { $0 === pennant }
              } else {
                crew.pennants.append(pennant)
              }
            } else if pennant.crews.contains(crew) {
              pennant.crews.removeAll { $0 === crew }
            } else {
              pennant.crews.append(crew)
            }
            if Bool.random(using: &chance) {
              crew.captain = captains.randomElement(using: &chance)
            }
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    for container in containers {
      let context = ModelContext(container)
      let crews = try context.fetch(FetchDescriptor<Crew>())
      let pennants = try context.fetch(FetchDescriptor<Pennant>())
      for crew in crews {
        for pennant in pennants {
          let (one, other) = (
            crew.pennants.filter { $0 === pennant }, pennant.crews.filter { $0 === crew }
          )
          #expect(
            one.count == other.count && one.count < 2,
            "crew \(crew.name), pennant \(pennant.name)"
          )
        }
        #expect(crew.captain == nil || crew.captain?.crew === crew)
      }
      for captain in try context.fetch(FetchDescriptor<Captain>()) {
        #expect(captain.crew == nil || captain.crew?.captain === captain)
      }
    }
  }

  @Test func `see at the next fetch what the other saved`() throws {
    let (first, second) = (ModelContext(try open()), ModelContext(try open()))
    first.insert(Meter("a", count: 1))
    try first.save()
    let found = try #require(try second.fetch(FetchDescriptor<Meter>()).first)
    #expect(found.count == 1)
    found.count = 2
    second.insert(Meter("b"))
    try second.save()
    #expect(try first.fetchCount(FetchDescriptor<Meter>()) == 2)
    let again = try first.fetch(
      FetchDescriptor<Meter>(predicate: #Predicate { $0.name == "a" })
    )
    #expect(again.first?.count == 2)
  }

  @Test func `keep a unique name unique`() throws {
    let (first, second) = (ModelContext(try open()), ModelContext(try open()))
    for round in 0..<10 {
      first.insert(Meter("same", count: 2 * round))
      try first.save()
      second.insert(Meter("same", count: 2 * round + 1))
      try second.save()
    }
    for context in [first, second] {
      let all = try context.fetch(FetchDescriptor<Meter>())
      #expect(all.map(\.count) == [19])
    }
  }

  @Test(arguments: 1...2)
  func `keep indexes right whoever saves`(seed: UInt64) throws {
    let contexts = try (0..<3).map { _ in ModelContext(try open()) }
    var random = SeededGenerator(seed: seed)
    var expected: [String: Int] = [:]
    for step in 0..<120 {
      let context = contexts[Int.random(in: 0..<3, using: &random)]
      let name = "n\(Int.random(in: 0..<25, using: &random))"
      if let known = try context.fetch(
        FetchDescriptor<Meter>(predicate: #Predicate { $0.name == name })
      ).first {
        #expect(known.count == expected[name])
        if step % 5 == 0 {
          context.delete(known)
          expected[name] = nil
        } else {
          known.count = step
          expected[name] = step
        }
      } else {
        #expect(expected[name] == nil)
        context.insert(Meter(name, count: step, place: "p\(step % 4)"))
        expected[name] = step
      }
      try context.save()
      let reader = contexts[Int.random(in: 0..<3, using: &random)]
      let least = Int.random(in: 0..<120, using: &random)
      let found = try reader.fetch(
        FetchDescriptor<Meter>(
          predicate: #Predicate { $0.count >= least },
          sortBy: [SortDescriptor(\.count)]
        )
      )
      #expect(found.map(\.count) == expected.values.filter { $0 >= least }.sorted())
    }
  }

  @Test func `append to one list in the order of their saves`() throws {
    let contexts = try (0..<2).map { _ in ModelContext(try open()) }
    contexts[0].insert(Meter("list"))
    try contexts[0].save()
    for number in 0..<20 {
      let context = contexts[number % 2]
      let meter = try #require(try context.fetch(FetchDescriptor<Meter>()).first)
      let tally = Tally(number)
      tally.picture = Data(repeating: UInt8(number), count: 500)
      meter.tallies.append(tally)
      try context.save()
    }
    for context in [contexts[0], contexts[1], ModelContext(try open())] {
      let meter = try #require(try context.fetch(FetchDescriptor<Meter>()).first)
      #expect(meter.tallies.map(\.number) == Array(0..<20))
      #expect(
        meter.tallies.allSatisfy { $0.picture == Data(repeating: UInt8($0.number), count: 500) }
      )
    }
  }

  @Test func `lose no addition, whoever else saves`() async throws {
    let containers = try (0..<3).map { _ in try open() }
    let context = ModelContext(containers[0])
    context.insert(Meter("sum"))
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for container in containers {
        group.addTask {
          let context = ModelContext(container)
          for number in 0..<60 {
            let descriptor = FetchDescriptor<Meter>(predicate: #Predicate { $0.name == "sum" })
            let meter = try #require(try context.fetch(descriptor).first)
            meter.add(1, to: \.count)
            context.insert(Meter("\(ObjectIdentifier(container).hashValue)-\(number)"))
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    for container in containers {
      let context = ModelContext(container)
      let sum = try context.fetch(
        FetchDescriptor<Meter>(predicate: #Predicate { $0.name == "sum" })
      )
      #expect(sum.map(\.count) == [180])
      #expect(try context.fetchCount(FetchDescriptor<Meter>()) == 181)
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `hear of the saves of another by themselves`() async throws {
    let (own, other) = (try open(), try open())
    let observer = try HistoryObserver(modelContainer: own)
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        continuation.resume()
      }
      #expect(throws: Never.self) {
        let context = ModelContext(other)
        context.insert(Meter("heard"))
        try context.save()
      }
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `count each save once, their own and those of others`() async throws {
    let (own, other) = (try open(), try open())
    let observer = try HistoryObserver(modelContainer: own)
    let contexts = [ModelContext(own), ModelContext(other)]
    for number in 0..<20 {
      let context = contexts[number % 2]
      context.insert(Meter("m\(number)"))
      try context.save()
    }
    // The last one is another's: once it is counted, all are.
    while observer.eventCounter < 20 {
      _ = try contexts[0].fetchCount(FetchDescriptor<Meter>())
      await Task.yield()
    }
    _ = try contexts[0].fetchCount(FetchDescriptor<Meter>())
    #expect(observer.eventCounter == 20)
  }

  @Test(arguments: [LogStoreConfiguration.Durability.full, .relaxed])
  func `are backed up with what each has saved`(
    durability: LogStoreConfiguration.Durability
  ) async throws {
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Meter.self,
        Tally.self,
        configurations: configuration(durability)
      )
    }
    var containers = [try open()]
    var saved = 0
    for round in 0..<4 {
      // The first two rounds are those of a process that is alone.
      if round == 2 { containers.append(try open()) }
      for container in containers {
        let context = ModelContext(container)
        for _ in 0..<20 {
          let tally = Tally(saved)
          tally.picture = Data(repeating: UInt8(saved & 255), count: 200)
          context.insert(tally)
          try context.save()
          saved += 1
        }
      }
      let url = folder.url.appending(path: "copy \(round)")
      try containers.last?.stores(of: LogStore.self).first?.backup(to: url)
      let copy = try ModelContainer(
        for: Meter.self,
        Tally.self,
        configurations: LogStoreConfiguration(url: url, allowsSave: false)
      )
      let tallies = try ModelContext(copy).fetch(
        FetchDescriptor<Tally>(sortBy: [SortDescriptor(\.number)])
      )
      #expect(tallies.map(\.number) == Array(0..<saved))
      #expect(
        tallies.allSatisfy { $0.picture == Data(repeating: UInt8($0.number & 255), count: 200) }
      )
      try await copy.close()
    }
    for container in containers { try await container.close() }
  }

  @Test func `leave a store that one can have alone, which then keeps others out`() async throws {
    func isRefused(_ configuration: LogStoreConfiguration) -> Bool {
      do {
        _ = try ModelContainer(for: Meter.self, Tally.self, configurations: configuration)
        return false
      } catch {
        return true
      }
    }
    var alone = configuration()
    alone.writers = .oneProcess
    let member = try open()
    #expect(isRefused(alone))
    try await member.close()
    do {
      let container = try ModelContainer(
        for: Meter.self,
        Tally.self,
        configurations: alone
      )
      #expect(isRefused(configuration()))
      try await container.close()
    }
    try await open().close()
  }
}
