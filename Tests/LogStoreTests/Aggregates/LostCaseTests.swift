import LogStore
import SwiftData
import Testing

// Values that an enumeration had once: an optional property reads them as nil.

private enum Before {
  enum Status: String, Codable { case draft, sent, archived }
  enum Level: Int, Codable { case low = 1, middle, high }
  enum Share: Double, Codable { case half = 0.5, whole = 1 }
  enum Mark: String, Codable, CaseIterable { case plain, gold }

  @Model final class Letter {
    var number: Int
    var status: Status?
    var level: Level?
    var share: Share?
    var mark: Mark = Mark.plain
    var part: Share = Share.whole
    var price = 100.0

    init(_ number: Int) {
      self.number = number
      mark = number % 4 == 0 ? .gold : .plain
      part = number % 2 == 0 ? .half : .whole
      status = [.draft, .sent, .archived, nil][number % 4]
      level = [.low, .middle, .high, nil][number % 4]
      share = number % 2 == 0 ? .half : .whole
    }
  }
}

private enum After {
  enum Status: String, Codable { case draft, sent }
  enum Level: Int, Codable { case low = 1, high = 3 }
  enum Share: Double, Codable { case whole = 1 }
  enum Mark: String, Codable, CaseIterable { case plain }

  @Model final class Letter {
    var number: Int
    var status: Status?
    var level: Level?
    var share: Share?
    var mark: Mark = Mark.plain
    var part: Share = Share.whole
    var price = 100.0

    init(_ number: Int) { self.number = number }
  }
}

@Suite struct `A case that an enumeration has lost` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ type: any PersistentModel.Type) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "letters.store"))
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    return try ModelContainer(for: Schema([type]), configurations: [configuration])
  }

  @Test(arguments: [false, true])
  func `is no value to any count`(isPacked: Bool) throws {
    do {
      let context = ModelContext(try open(Before.Letter.self))
      for number in 0..<200 { context.insert(Before.Letter(number)) }
      try context.save()
    }
    let container = try open(After.Letter.self)
    if isPacked { try container.stores(of: LogStore.self).first?.compact() }
    let context = ModelContext(container)
    var limited = FetchDescriptor<After.Letter>()
    limited.fetchLimit = 1000
    for descriptor in [FetchDescriptor<After.Letter>(), limited] {
      let (statuses, levels, shares) = try context.aggregate(
        descriptor,
        .count(\.status),
        .count(\.level),
        .count(\.share)
      )
      #expect(statuses == 100 && levels == 100 && shares == 100)
      let groups = try context.aggregate(descriptor, by: \.status, .count, .count(\.level))
      #expect(groups.map(\.key) == [nil, .draft, .sent])
      #expect(groups.map(\.values.0) == [100, 50, 50])
      #expect(groups.map(\.values.1) == [50, 50, 0])
    }
    let present = FetchDescriptor<After.Letter>(predicate: #Predicate { $0.status != nil })
    #expect(try context.fetchCount(present) == 100)
  }
  @Test(arguments: [false, true])
  func `is no value to any comparison`(isPacked: Bool) throws {
    do {
      let context = ModelContext(try open(Before.Letter.self))
      for number in 0..<200 { context.insert(Before.Letter(number)) }
      try context.save()
    }
    let container = try open(After.Letter.self)
    if isPacked { try container.stores(of: LogStore.self).first?.compact() }
    let context = ModelContext(container)
    let predicates: [(Predicate<After.Letter>, Int)] = [
      (#Predicate { $0.mark.rawValue == "gold" }, 0),
      (#Predicate { $0.mark.rawValue != "gold" }, 200),
      (#Predicate { ["gold"].contains($0.mark.rawValue) }, 0),
      (#Predicate { $0.mark.rawValue == "plain" }, 200),
      (#Predicate { $0.status?.rawValue == "archived" }, 0),
      (#Predicate { $0.status?.rawValue != "archived" }, 200),
      (#Predicate { $0.status?.rawValue == "sent" }, 50),
      (#Predicate { $0.level?.rawValue == 2 }, 0),
      (#Predicate { $0.part.rawValue == 0.5 }, 0),
      (#Predicate { $0.part.rawValue * $0.price > 60 }, 200),
      (#Predicate { $0.part.rawValue * $0.price < 60 }, 0),
    ]
    for (number, (predicate, count)) in predicates.enumerated() {
      var limited = FetchDescriptor(predicate: predicate)
      limited.fetchLimit = 1000
      #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == count, "\(number)")
      #expect(try context.fetch(limited).count == count, "\(number)")
    }
    let due = #Expression<After.Letter, Double> { $0.part.rawValue * $0.price }
    #expect(try context.aggregate(FetchDescriptor<After.Letter>(), .sum(due)) == 20_000)
  }
}
