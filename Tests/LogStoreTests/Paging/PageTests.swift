import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Sighting {
  #Index<Sighting>(
    [\.species, \.count],
    [\.seen],
    [\.weight],
    [\.note],
    [\.species, \.code],
    [\.count, \.weight]
  )
  var number: Int
  var species: String
  var count: Int
  var seen: Date
  var weight: Double?
  var note: String?
  var code: UUID?
  var site: Site?

  init(_ number: Int, _ random: inout SeededRandom) {
    self.number = number
    let names = ["", "wren", "wren-tit", "caf\u{e9}", "cafe\u{301}", "caf\u{e9}s", "cafe\u{301} Z"]
    species = names[random.next(below: 7)]
    count = random.next(below: 9) - 4
    seen = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 60)) / 4 - 5)
    let weights: [Double?] = [nil, .nan, -.infinity, .infinity, -0.0, 0, 1.5, -2]
    weight = weights[random.next(below: 8)]
    note = random.next(below: 4) == 0 ? nil : "a longer note \(random.next(below: 20))"
    code =
      random.next(below: 3) == 0
      ? nil
      : UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, UInt8(random.next(below: 9))))
  }

  var shown: String { "\(species) \(count)" }
}

@Model final class Site {
  var name: String
  @Relationship(inverse: \Sighting.site) var sightings: [Sighting] = []

  init(_ name: String) { self.name = name }
}

@Model class Plant {
  #Index<Plant>([\.height])
  var height: Int
  init(height: Int) { self.height = height }
}

@available(macOS 26, iOS 26, *)
@Model final class Tree: Plant {
  var rings: Int = 0
  override init(height: Int) { super.init(height: height) }
}

/// An order of sightings, with a name for messages.
struct SightingOrder: CustomStringConvertible, Sendable {
  let description: String
  let keys: @Sendable () -> [SortDescriptor<Sighting>]

  static let all: [SightingOrder] = [
    SightingOrder(description: "none") { [] },
    SightingOrder(description: "seen") { [SortDescriptor(\.seen)] },
    SightingOrder(description: "seen, reversed") { [SortDescriptor(\.seen, order: .reverse)] },
    SightingOrder(description: "species, count") {
      [SortDescriptor(\.species), SortDescriptor(\.count)]
    },
    SightingOrder(description: "species, count, reversed") {
      [SortDescriptor(\.species, order: .reverse), SortDescriptor(\.count, order: .reverse)]
    },
    SightingOrder(description: "count, weight reversed") {
      [SortDescriptor(\.count), SortDescriptor(\.weight, order: .reverse)]
    },
    SightingOrder(description: "species, count reversed") {
      [SortDescriptor(\.species), SortDescriptor(\.count, order: .reverse)]
    },
    SightingOrder(description: "weight") { [SortDescriptor(\.weight)] },
    SightingOrder(description: "weight, reversed") { [SortDescriptor(\.weight, order: .reverse)] },
    SightingOrder(description: "note, seen") { [SortDescriptor(\.note), SortDescriptor(\.seen)] },
    SightingOrder(description: "code, reversed") { [SortDescriptor(\.code, order: .reverse)] },
    SightingOrder(description: "species, code") {
      [SortDescriptor(\.species), SortDescriptor(\.code)]
    },
    SightingOrder(description: "three keys") {
      [SortDescriptor(\.count, order: .reverse), SortDescriptor(\.code), SortDescriptor(\.weight)]
    },
    SightingOrder(description: "site's name") { [SortDescriptor(\.site?.name)] },
    SightingOrder(description: "seen, localized species") {
      [SortDescriptor(\.count), SortDescriptor(\.species, comparator: .localizedStandard)]
    },
    SightingOrder(description: "identifier") { [SortDescriptor(\.persistentModelID)] },
  ]
}

enum SightingFilter: CaseIterable {
  case none, species, count, computed

  var predicate: Predicate<Sighting>? {
    switch self {
    case .none: return nil
    case .species: return #Predicate<Sighting> { $0.species == "wren" }
    case .count: return #Predicate<Sighting> { $0.count >= -1 && $0.count < 3 }
    case .computed: return #Predicate<Sighting> { $0.shown != "wren 0" }
    }
  }
}

/// How many sightings a store has: so few that they are gone through, or so many that indexes count.
private let sizes = [30, 300]

private func makeContext(_ size: Int, _ random: inout SeededRandom) throws -> ModelContext {
  let context = ModelContext(
    try ModelContainer(
      for: Schema([Sighting.self, Site.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  )
  let sites = ["north", "south", "", "east"].map(Site.init)
  for site in sites { context.insert(site) }
  for number in 0..<size {
    let sighting = Sighting(number, &random)
    context.insert(sighting)
    let place = random.next(below: 5)
    sighting.site = place == 4 ? nil : sites[place]
  }
  try context.save()
  return context
}

private func descriptor(
  _ order: SightingOrder,
  _ filter: SightingFilter,
  size: Int
) -> FetchDescriptor<Sighting> {
  var descriptor = FetchDescriptor(predicate: filter.predicate, sortBy: order.keys())
  descriptor.fetchLimit = size
  return descriptor
}

extension ModelContext {
  /// The pages of a fetch, from the first to the last.
  fileprivate func walk<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    between: () throws -> Void = {}
  ) throws -> [FetchPage<T>] {
    var pages = [try page(descriptor)]
    while let next = pages[pages.count - 1].next {
      try between()
      // A token is text on its way.
      pages.append(try page(descriptor, after: PageToken(next.description)))
    }
    return pages
  }

  /// The pages of a fetch from a page back to the first.
  fileprivate func walkBack<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    from page: FetchPage<T>
  ) throws -> [FetchPage<T>] {
    var pages: [FetchPage<T>] = []
    var previous = page.previous
    while let token = previous {
      let page = try self.page(descriptor, before: token)
      pages.insert(page, at: 0)
      previous = page.previous
    }
    return pages
  }
}

@Suite struct `Pages of a fetch` {
  @Test(arguments: SightingOrder.all, SightingFilter.allCases)
  func `are together what one fetch finds, in both directions`(
    order: SightingOrder,
    filter: SightingFilter
  ) throws {
    for size in sizes {
      var random = SeededRandom(seed: 5)
      let context = try makeContext(size, &random)
      for length in size < 100 ? [1, 7, 2000] : [29] {
        let descriptor = descriptor(order, filter, size: length)
        var whole = descriptor
        whole.fetchLimit = nil
        let expected = try context.fetch(whole).map(\.number)
        let pages = try context.walk(descriptor)
        let told: Comment = "\(order), \(filter), \(length) of \(size)"
        #expect(pages.flatMap(\.models).map(\.number) == expected, told)
        #expect(pages.dropLast().allSatisfy { $0.models.count == length }, told)
        let last = try #require(pages.last)
        let back = try context.walkBack(descriptor, from: last)
        #expect((back.flatMap(\.models) + last.models).map(\.number) == expected, told)
      }
    }
  }

  @Test(arguments: SightingOrder.all)
  func `show what stays once, whatever comes and goes between`(order: SightingOrder) throws {
    for (size, seed) in [(60, 1), (300, 2)] as [(Int, UInt64)] {
      var random = SeededRandom(seed: seed)
      let context = try makeContext(size, &random)
      let other = ModelContext(context.container)
      let lasting = Set((0..<size).filter { $0 % 3 != 0 })
      var number = size
      let descriptor = descriptor(order, .none, size: size / 10)
      let pages = try context.walk(descriptor) {
        for _ in 0..<5 {
          number += 1
          other.insert(Sighting(number, &random))
        }
        let all = try other.fetch(FetchDescriptor<Sighting>())
        for sighting in all where !lasting.contains(sighting.number) {
          if random.next(below: 12) == 0 { other.delete(sighting) }
        }
        try other.save()
      }
      let shown = pages.flatMap(\.models).map(\.number)
      let told: Comment = "\(order), seed \(seed)"
      #expect(Set(shown).count == shown.count, "\(told): something is shown twice")
      #expect(lasting.isSubset(of: shown), "\(told): something is left out")
    }
  }

  @Test(arguments: SightingOrder.all, SightingFilter.allCases)
  func `count unsaved changes in`(order: SightingOrder, filter: SightingFilter) throws {
    for size in sizes {
      var random = SeededRandom(seed: 6)
      let context = try makeContext(size, &random)
      for sighting in try context.fetch(FetchDescriptor<Sighting>()) {
        switch random.next(below: 15) {
        case 0: context.delete(sighting)
        case 1: sighting.count += 2
        case 2: sighting.seen += 3
        case 3: sighting.weight = 1.5
        default: break
        }
      }
      for number in 0..<20 { context.insert(Sighting(5000 + number, &random)) }
      let descriptor = descriptor(order, filter, size: size / 8)
      var whole = descriptor
      whole.fetchLimit = nil
      var expected = try context.fetch(whole).map(\.number)
      if order.description == "identifier" {
        // Pages end with what has no row; a sort by identifier begins with it.
        expected = expected.filter { $0 < 5000 } + (expected.filter { $0 >= 5000 }.sorted())
      }
      let pages = try context.walk(descriptor)
      #expect(pages.flatMap(\.models).map(\.number) == expected, "\(order), \(filter), \(size)")
      let last = try #require(pages.last)
      let back = try context.walkBack(descriptor, from: last)
      #expect(
        (back.flatMap(\.models) + last.models).map(\.number) == expected,
        "back: \(order), \(filter), \(size)"
      )
    }
  }

  @Test func `of a class with subclasses are together what one fetch finds`() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Schema([Plant.self, Tree.self]),
        configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
      )
    )
    var random = SeededRandom(seed: 8)
    for _ in 0..<400 {
      let height = random.next(below: 12)
      context.insert(random.next(below: 2) == 0 ? Plant(height: height) : Tree(height: height))
    }
    try context.save()
    for order in [SortOrder.forward, .reverse] {
      for keys in [[], [SortDescriptor(\Plant.height, order: order)]] {
        var descriptor = FetchDescriptor<Plant>(sortBy: keys)
        let expected = try context.fetch(descriptor).map(\.persistentModelID)
        descriptor.fetchLimit = 17
        let pages = try context.walk(descriptor)
        #expect(pages.flatMap(\.models).map(\.persistentModelID) == expected)
        let last = try #require(pages.last)
        let back = try context.walkBack(descriptor, from: last)
        #expect((back.flatMap(\.models) + last.models).map(\.persistentModelID) == expected)
      }
    }
  }

  @Test func `are read within a read of the container`() async throws {
    var random = SeededRandom(seed: 9)
    let container = try makeContext(300, &random).container
    var found: [Int] = []
    var token: PageToken?
    repeat {
      let after = token
      let page = try await container.read { context in
        let page = try context.page(
          descriptor(SightingOrder.all[1], .none, size: 50),
          after: after
        )
        return (page.models.map(\.number), page.next)
      }
      found += page.0
      token = page.1
    } while token != nil
    #expect(found.count == 300)
    #expect(Set(found).count == 300)
  }

  @Test func `begin behind a model that was deleted`() throws {
    var random = SeededRandom(seed: 10)
    let context = try makeContext(300, &random)
    let descriptor = descriptor(SightingOrder.all[3], .none, size: 20)
    let first = try context.page(descriptor)
    let second = try context.page(descriptor, after: first.next)
    context.delete(try #require(first.models.last))
    try context.save()
    #expect(
      try context.page(descriptor, after: first.next).models.map(\.number)
        == second.models.map(\.number)
    )
  }
}

/// An attribute of each type that has an order.
@Model final class Measure {
  #Index<Measure>([\.double], [\.unsigned])
  var unsigned: UInt64
  var tiny: Int8
  var float: Float
  var double: Double?
  var date: Date?
  var uuid: UUID
  var text: String?
  var decimal: Decimal
  var kind: Kind
  var box: Box

  enum Kind: Int, Codable, Comparable {
    case low = 2
    case high = 1
    static func < (lhs: Kind, rhs: Kind) -> Bool { lhs == .low && rhs == .high }
  }

  struct Box: Codable, Comparable {
    var width: Int
    static func < (lhs: Box, rhs: Box) -> Bool { lhs.width < rhs.width }
  }

  init(_ number: Int) {
    unsigned = [0, 7, UInt64(Int64.max), UInt64(Int64.max) + 1, .max][number % 5]
    tiny = [.min, -1, 0, .max][number % 4]
    float = [-.infinity, -.leastNonzeroMagnitude, 0, 0.1, .nan][number % 5]
    double = [nil, .greatestFiniteMagnitude, -0.0, .nan, 0.1][number % 5]
    date = [nil, .distantPast, .distantFuture, Date(timeIntervalSince1970: 0.001)][number % 4]
    let low = UInt8(number % 3)
    uuid = UUID(uuid: (low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255 - low))
    text = [nil, "", "\0", "\u{1F600}", "z"][number % 5]
    decimal = Decimal(number)
    kind = number.isMultiple(of: 2) ? .low : .high
    box = Box(width: number)
  }

  static let orders: [@Sendable (SortOrder) -> SortDescriptor<Measure>] = [
    { SortDescriptor(\.unsigned, order: $0) }, { SortDescriptor(\.tiny, order: $0) },
    { SortDescriptor(\.float, order: $0) }, { SortDescriptor(\.double, order: $0) },
    { SortDescriptor(\.date, order: $0) }, { SortDescriptor(\.uuid, order: $0) },
    { SortDescriptor(\.text, order: $0) },
    { SortDescriptor(\.text, comparator: .localizedStandard, order: $0) },
    { SortDescriptor(\.persistentModelID, order: $0) },
    { SortDescriptor(\.decimal, order: $0) }, { SortDescriptor(\.kind, order: $0) },
    { SortDescriptor(\.box, order: $0) }, { SortDescriptor(\.box.width, order: $0) },
  ]
}

@Suite struct `Pages in the order of an attribute` {
  @Test(arguments: Measure.orders.indices, [SortOrder.forward, .reverse])
  func `of any type are together what one fetch finds, or are refused`(
    place: Int,
    order: SortOrder
  ) throws {
    let container = try ModelContainer(
      for: Measure.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    for number in 0..<40 { context.insert(Measure(number)) }
    try context.save()
    for number in 40..<60 { context.insert(Measure(number)) }
    var descriptor = FetchDescriptor<Measure>(sortBy: [Measure.orders[place](order)])
    let all = try context.fetch(descriptor)
    descriptor.fetchLimit = 7
    var paged: [Measure] = []
    do {
      var page = try context.page(descriptor)
      paged += page.models
      while let next = page.next {
        page = try context.page(descriptor, after: next)
        paged += page.models
      }
    } catch PageError.unsupportedSort {
      #expect(place >= 9)
      return
    }
    #expect(paged.count == all.count)
    #expect(Set(paged.map(\.persistentModelID)).count == all.count)
    let text = { (measure: Measure) in
      "\(measure.unsigned) \(measure.tiny) \(measure.float) \(measure.text ?? "-")"
    }
    // Models with equal keys that are not saved are last in a page's order.
    if place == 8 { #expect(paged.map(text) == all.map(text)) }
    let keys: [(Measure) -> String] = [
      { "\($0.unsigned)" }, { "\($0.tiny)" }, { "\($0.float)" }, { "\($0.double as Any)" },
      { "\($0.date as Any)" }, { "\($0.uuid)" }, { "\($0.text as Any)" },
      { "\($0.text as Any)" }, { _ in "" }, { _ in "" }, { _ in "" }, { _ in "" },
      { "\($0.box.width)" },
    ]
    #expect(paged.map(keys[place]) == all.map(keys[place]))
  }
}

@Suite struct `A page far from the first` {
  private func plan(
    _ keys: [SortDescriptor<Sighting>],
    _ predicate: Predicate<Sighting>? = nil,
    back: Bool = false,
    isBesideUnsaved: Bool = false
  ) throws -> (plan: QueryPlan, shown: Int) {
    var random = SeededRandom(seed: 11)
    let context = try makeContext(4000, &random)
    var descriptor = FetchDescriptor(predicate: predicate, sortBy: keys)
    descriptor.fetchLimit = 200
    var page = try context.page(descriptor)
    for _ in 0..<(predicate == nil ? 8 : 1) {
      page = try context.page(descriptor, after: page.next)
    }
    descriptor.fetchLimit = 20
    if isBesideUnsaved {
      try #require(page.models.last).seen += 1
      context.insert(Sighting(5000, &random))
    }
    let (found, plans) = try context.explain {
      if back {
        try context.page(descriptor, before: try #require(page.previous))
      } else {
        try context.page(descriptor, after: page.next)
      }
    }
    return (try #require(plans.last), found.models.count)
  }

  @Test(arguments: [SortOrder.forward, .reverse])
  func `reads its own rows from an index of the sort`(order: SortOrder) throws {
    for back in [false, true] {
      let (plan, shown) = try plan([SortDescriptor(\.seen, order: order)], back: back)
      #expect(shown == 20)
      // The page before also reads the models with the sort key of its first one.
      #expect(plan.accesses[0].readRowCount <= (back ? 300 : 21), "\(plan)")
    }
  }

  @Test(arguments: [false, true], [SortOrder.forward, .reverse])
  func `reads few more beside unsaved changes`(back: Bool, order: SortOrder) throws {
    let (plan, shown) = try plan(
      [SortDescriptor(\.seen, order: order)],
      back: back,
      isBesideUnsaved: true
    )
    #expect(shown == 20)
    #expect(plan.accesses[0].readRowCount <= (back ? 300 : 24), "\(plan)")
  }

  @Test func `reads its own rows from an index of equality, then the sort`() throws {
    let (plan, shown) = try plan(
      [SortDescriptor(\.count)],
      #Predicate { $0.species == "wren" }
    )
    #expect(shown == 20)
    #expect(plan.accesses[0].readRowCount <= 21, "\(plan)")
  }

  @Test func `reads its own rows in the order of insertion`() throws {
    let (plan, shown) = try plan([])
    #expect(shown == 20)
    #expect(plan.accesses[0].readRowCount <= 21, "\(plan)")
  }
}

@Suite struct `A page token` {
  let context: ModelContext
  let readings: FetchDescriptor<Sighting>
  let token: PageToken

  init() throws {
    var random = SeededRandom(seed: 12)
    context = try makeContext(120, &random)
    readings = descriptor(SightingOrder.all[3], .none, size: 30)
    token = try #require(try context.page(readings).next)
  }

  private func refusal(_ text: String, _ descriptor: FetchDescriptor<Sighting>? = nil) -> PageError?
  {
    do {
      _ = try context.page(descriptor ?? readings, after: PageToken(text))
      return nil
    } catch {
      return error as? PageError
    }
  }

  @Test func `is short, the same each time, and fit for a URL`() throws {
    let again = try context.page(readings).next
    #expect(again == token)
    #expect(token.rawValue.count < 60, "\(token)")
    let allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    #expect(token.rawValue.allSatisfy(allowed.contains))
    let coded = try JSONDecoder().decode([PageToken].self, from: JSONEncoder().encode([token]))
    #expect(coded == [token])
  }

  @Test func `of another sort is refused with both sorts named`() throws {
    let other = descriptor(SightingOrder.all[4], .none, size: 30)
    let error = try #require(refusal(token.rawValue, other))
    guard case .otherSort(let expected, let found) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(expected == "Sighting by species descending, count descending")
    #expect(found == "Sighting by other keys: a text, an integer")
  }

  @Test func `of another entity is refused with both entities named`() throws {
    #expect(throws: PageError.otherEntity(expected: "Site", found: "Sighting")) {
      try context.page(FetchDescriptor<Site>(), after: token)
    }
  }

  @Test func `may be of another predicate`() throws {
    let wrens = descriptor(SightingOrder.all[3], .species, size: 30)
    let page = try context.page(wrens, after: token)
    #expect(page.models.allSatisfy { $0.species == "wren" })
  }

  @Test func `that is cut or changed anywhere is refused`() {
    for length in 0..<token.rawValue.count {
      guard case .malformedToken = refusal(String(token.rawValue.prefix(length))) else {
        Issue.record("the first \(length) characters of \(token) are taken")
        continue
      }
    }
    let characters = Array(token.rawValue)
    for place in characters.indices {
      for other in "A7z-_=+/ \u{e9}" where other != characters[place] {
        var changed = characters
        changed[place] = other
        guard case .malformedToken = refusal(String(changed)) else {
          Issue.record("\(String(changed)) is taken for \(token)")
          continue
        }
      }
    }
  }

  @Test func `with any content brings a page or an error`() throws {
    var random = SeededRandom(seed: 13)
    let bytes = try decoded(token)
    for round in 0..<2000 {
      var body = Array(bytes.dropFirst(5))
      for _ in 0...random.next(below: 3) {
        let place = random.next(below: body.count)
        switch random.next(below: 4) {
        case 0: body[place] = UInt8(random.next(below: 256))
        case 1: body[place] ^= 1 << UInt8(random.next(below: 8))
        case 2: body.insert([0, 0x7F, 0x80, 0xFF][random.next(below: 4)], at: place)
        default: if body.count > 1 { body.remove(at: place) }
        }
      }
      let text = encoded([1] + check(of: body) + body)
      do {
        let page = try context.page(readings, after: PageToken(text))
        #expect(page.models.count <= 30)
        if round % 10 == 0 { _ = try context.page(readings, before: PageToken(text)) }
      } catch is PageError {
      }
    }
  }

  @Test func `of an unsaved model holds while the model is unsaved`() throws {
    var random = SeededRandom(seed: 14)
    for number in 0..<40 { context.insert(Sighting(900 + number, &random)) }
    var unsorted = FetchDescriptor<Sighting>()
    unsorted.fetchLimit = 130
    let first = try context.page(unsorted)
    #expect(try context.page(unsorted, after: first.next).models.map(\.number) == Array(910..<940))
    try context.save()
    #expect { try context.page(unsorted, after: first.next) } throws: { error in
      if case .unsavedModel = error as? PageError { true } else { false }
    }
  }

  @Test func `is not needed beside an offset, which is refused`() throws {
    var skipping = readings
    skipping.fetchOffset = 10
    #expect(throws: PageError.offset(10)) { try context.page(skipping) }
  }

  @Test func `is not made for an order that is not stored`() throws {
    let computed = FetchDescriptor<Sighting>(sortBy: [SortDescriptor(\.shown)])
    #expect { try context.page(computed) } throws: { error in
      if case .unsupportedSort = error as? PageError { true } else { false }
    }
  }

  @Test func `of more sort keys than a byte counts brings the next page`() throws {
    let keys = (0..<300).map { _ in SortDescriptor(\Sighting.count) }
    var counted = FetchDescriptor<Sighting>(sortBy: keys + [SortDescriptor(\.number)])
    counted.fetchLimit = 50
    let first = try context.page(counted)
    let second = try context.page(counted, after: first.next)
    counted.fetchLimit = 100
    #expect(first.models + second.models == (try context.page(counted).models))
  }

  @Test func `of the greatest row numbers is no trap`() throws {
    let store = try #require(try context.fetch(readings).first?.persistentModelID.storeIdentifier)
    let text = "Sighting.p18446744073709551615.\(store)"
    let identifier = try #require(PersistentIdentifier(urlComponent: text))
    #expect(context.registeredModel(for: identifier) as Sighting? == nil)
    #expect((context.model(for: identifier) as? Sighting)?.isDeleted == true)
  }

  private func decoded(_ token: PageToken) throws -> [UInt8] {
    let text = token.rawValue.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Array(try #require(Data(base64Encoded: text + padding)))
  }

  private func encoded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// The check sum that a hostile maker of tokens would write.
  private func check(of body: [UInt8]) -> [UInt8] {
    var hash: UInt32 = 0x811C_9DC5
    for byte in body { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return (0..<4).map { UInt8(truncatingIfNeeded: hash >> UInt32(8 * $0)) }
  }
}
