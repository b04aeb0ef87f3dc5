import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Consignment {
  #Index<Consignment>([\.weight], [\.city])
  @Attribute(.unique) var code: Int
  var weight: Int
  var city: String
  var note: String?

  init(_ code: Int, weight: Int, city: String) {
    self.code = code
    self.weight = weight
    self.city = city
  }
}

@Suite struct `A fetch with unsaved models` {
  let context: ModelContext
  let cities = ["Bonn", "Celle", "Ulm"]

  init() throws {
    let container = try ModelContainer(
      for: Consignment.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    for code in 0..<300 { context.insert(consignment(code)) }
    try context.save()
  }

  private func consignment(_ code: Int) -> Consignment {
    Consignment(code, weight: code * 7919 % 50, city: cities[code % 3])
  }

  /// Inserts, changes and deletes every so many.
  private func change(one n: Int) throws {
    for consignment in try context.fetch(FetchDescriptor<Consignment>())
    where consignment.code % n == 0 {
      switch consignment.code / n % 3 {
      case 0: consignment.weight = (consignment.weight + 17) % 50
      case 1: consignment.note = "changed"
      default: context.delete(consignment)
      }
    }
    for code in 1000..<(1000 + 60 / n) { context.insert(consignment(code)) }
  }

  /// Each asks for the heavy ones of Ulm, where the context has an unsaved weight and another has saved the city.
  enum Question: CaseIterable { case fetch, page, count, identifiers, enumeration }

  @Test(arguments: Question.allCases)
  func `lays unsaved values over what others have saved`(question: Question) throws {
    let bonn = FetchDescriptor<Consignment>(predicate: #Predicate { $0.city == "Bonn" })
    let mine = try #require(try context.fetch(bonn).first)
    mine.weight = 1000
    let other = ModelContext(context.container)
    let identifier = mine.persistentModelID
    try #require(other.model(for: identifier) as? Consignment).city = "Ulm"
    try other.save()

    var heavy = FetchDescriptor<Consignment>(
      predicate: #Predicate { $0.weight > 900 && $0.city == "Ulm" },
      sortBy: [SortDescriptor(\.code)]
    )
    switch question {
    case .fetch: #expect(try context.fetch(heavy).map(\.code) == [mine.code])
    case .page:
      heavy.fetchLimit = 1
      #expect(try context.fetch(heavy).map(\.code) == [mine.code])
    case .count: #expect(try context.fetchCount(heavy) == 1)
    case .identifiers: #expect(try context.fetchIdentifiers(heavy) == [identifier])
    case .enumeration:
      var codes: [Int] = []
      try context.enumerate(heavy, allowEscapingMutations: true) { codes.append($0.code) }
      #expect(codes == [mine.code])
    }
    #expect(mine.city == "Ulm")
    #expect(mine.weight == 1000)
  }

  @Test(arguments: [1, 2, 7, 60])
  func `gives every page and count as it will be once all is saved`(n: Int) throws {
    try change(one: n)
    let predicates: [Predicate<Consignment>?] = [
      nil, #Predicate { $0.weight > 25 }, #Predicate { $0.city == "Ulm" && $0.note == nil },
      #Predicate { $0.weight == 3 }, #Predicate { $0.code > 1010 },
    ]
    let sorts: [[SortDescriptor<Consignment>]] = [
      [], [SortDescriptor(\.weight)],
      [SortDescriptor(\.city), SortDescriptor(\.weight, order: .reverse)],
    ]
    var questions: [(FetchDescriptor<Consignment>, codes: [Int], count: Int, enumerated: [Int])] =
      []
    for predicate in predicates {
      for sort in sorts {
        for (limit, offset) in [(nil, nil), (5, nil), (5, 3), (40, 100), (1, 250), (nil, 20)]
          as [(Int?, Int?)]
        {
          var descriptor = FetchDescriptor(predicate: predicate, sortBy: sort)
          descriptor.fetchLimit = limit
          descriptor.fetchOffset = offset
          var enumerated: [Int] = []
          try context.enumerate(descriptor, batchSize: 7, allowEscapingMutations: true) {
            enumerated.append($0.code)
          }
          let codes = try context.fetch(descriptor).map(\.code)
          let identifiers = try context.fetchIdentifiers(descriptor)
          #expect(
            identifiers.compactMap { (context.model(for: $0) as? Consignment)?.code } == codes
          )
          questions.append((descriptor, codes, try context.fetchCount(descriptor), enumerated))
        }
      }
    }
    try context.save()
    let other = ModelContext(context.container)
    for (descriptor, codes, count, enumerated) in questions {
      let expected = try other.fetch(descriptor).map(\.code)
      let what: Comment = "\(String(describing: descriptor.predicate)), \(descriptor.sortBy)"
      #expect(codes == expected, what)
      #expect(count == expected.count, what)
      #expect(enumerated == expected, what)
    }
  }

  @Test func `finds models by the values they have now`() throws {
    func codes(_ city: String) throws -> [Int] {
      try context.fetch(
        FetchDescriptor<Consignment>(predicate: #Predicate { $0.city == city && $0.code >= 1000 })
      )
      .map(\.code)
    }
    let consignments = (1000..<1100).map { consignment($0) }
    for consignment in consignments { context.insert(consignment) }
    #expect(try codes("Bonn") == consignments.filter { $0.city == "Bonn" }.map(\.code))
    // Away and back again, then away.
    for consignment in consignments.prefix(40) {
      consignment.city = "Aalen"
      consignment.city = "Bonn"
    }
    for consignment in consignments.suffix(40) { consignment.city = "Aalen" }
    for city in ["Aalen", "Bonn", "Celle", "Ulm"] {
      #expect(try codes(city) == consignments.filter { $0.city == city }.map(\.code), "\(city)")
    }
    for consignment in consignments.prefix(20) { context.delete(consignment) }
    #expect(
      try codes("Bonn") == consignments[20..<40].map(\.code)
        + consignments[40..<60].filter { $0.city == "Bonn" }.map(\.code)
    )
    context.insert(consignments[3])
    #expect(try codes("Bonn").contains(1003))
    try context.save()
    for consignment in consignments.suffix(40) { consignment.city = "Ulm" }
    #expect(try codes("Aalen") == [])
    #expect(try codes("Ulm").count == consignments[20..<60].filter { $0.city == "Ulm" }.count + 40)
    context.rollback()
    #expect(try codes("Aalen") == consignments.suffix(40).map(\.code))
  }

  @Test func `finds a changed model by what another context has saved of it`() throws {
    let codes = Array(0..<60)
    let wanted = FetchDescriptor<Consignment>(
      predicate: #Predicate { $0.city == "Aalen" && $0.weight < 0 }
    )
    for consignment in try context.fetch(FetchDescriptor<Consignment>())
    where codes.contains(consignment.code) {
      consignment.weight = -1
    }
    #expect(try context.fetch(wanted) == [])
    let other = ModelContext(context.container)
    for consignment in try other.fetch(FetchDescriptor<Consignment>()) where consignment.code < 10 {
      consignment.city = "Aalen"
    }
    try other.save()
    // A fetch that meets the rows takes over what was saved.
    #expect(try context.fetch(FetchDescriptor<Consignment>()).count == 300)
    #expect(try context.fetch(wanted).map(\.code) == Array(0..<10))
  }

  @Test func `loads no row for a count, however many models are unsaved`() throws {
    for code in 1000..<1100 { context.insert(consignment(code)) }
    let other = ModelContext(context.container)
    for code in 1000..<1100 { other.insert(consignment(code)) }
    #expect(try other.fetchCount(FetchDescriptor<Consignment>()) == 400)
    #expect(
      try other.fetchCount(FetchDescriptor<Consignment>(predicate: #Predicate { $0.weight >= 0 }))
        == 400
    )
    let some = try context.fetchIdentifiers(FetchDescriptor<Consignment>())[0]
    #expect(other.registeredModel(for: some) as Consignment? == nil)
  }

  @Test func `loads no more rows than a page needs`() throws {
    let other = ModelContext(context.container)
    other.insert(consignment(1000))
    var page = FetchDescriptor<Consignment>(sortBy: [SortDescriptor(\.weight)])
    page.fetchLimit = 5
    page.fetchOffset = 100
    let shown = try other.fetch(page)
    #expect(shown.count == 5)
    let registered = try context.fetchIdentifiers(FetchDescriptor<Consignment>())
      .filter { (other.registeredModel(for: $0) as Consignment?) != nil }
    #expect(registered.count <= 6)
  }
}
