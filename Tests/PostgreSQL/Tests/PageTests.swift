import Foundation
@testable import ModelRuntime
@testable import PostgresStore
import Testing

@Model private final class Entry {
  #Index<Entry>([\.time, \.number])
  var number: Int
  var size: UInt64
  var time: Date
  var mark: Int?
  var weight: Double?
  var label: String
  var tag: UUID
  var topic: Topic?

  init(_ number: Int, _ random: inout SeededGenerator) {
    self.number = number
    size = Bool.random(using: &random) ? UInt64(number) : .max - UInt64(number % 5)
    time = Date(timeIntervalSinceReferenceDate: Double.random(in: -9...9, using: &random).rounded())
    mark = [nil, 1, 2].randomElement(using: &random) ?? nil
    weight = [nil, .nan, -1.5, 0, 2, .infinity].randomElement(using: &random) ?? nil
    label = ["", "a", "e\u{301}", "é", "z", "\u{1F600}"].randomElement(using: &random) ?? ""
    tag = UUID(
      uuid: (UInt8.random(in: 0...3, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    )
  }
}

@Model private final class Topic {
  var rank: Int?
  init(_ rank: Int?) { self.rank = rank }
}

@Suite struct `Pages of a PostgreSQL store` {
  private let namespace: TestNamespace
  private let container: ModelContainer
  private let store: PostgresStore

  init() throws {
    namespace = try TestNamespace()
    container = try namespace.container(Entry.self, Topic.self)
    store = try #require(container.stores(of: PostgresStore.self).first)
    var random = SeededGenerator(seed: 7)
    let context = ModelContext(container)
    let topics = [nil, 1, 2].map(Topic.init)
    for topic in topics { context.insert(topic) }
    for number in (0..<120).shuffled(using: &random) {
      let entry = Entry(number, &random)
      entry.topic = ([nil] + topics).randomElement(using: &random) ?? nil
      context.insert(entry)
    }
    try context.save()
  }

  enum Order: CaseIterable {
    case none, time, timeDown, mark, markDown, weight, weightDown, label, labelDown, size, sizeDown
    case tag, topic, topicDown, rowsDown

    fileprivate var descriptors: [SortDescriptor<Entry>] {
      switch self {
      case .none: []
      case .time: [SortDescriptor(\.time), SortDescriptor(\.mark)]
      case .timeDown: [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.mark)]
      case .mark: [SortDescriptor(\.mark), SortDescriptor(\.weight, order: .reverse)]
      case .markDown: [SortDescriptor(\.mark, order: .reverse), SortDescriptor(\.weight)]
      case .weight: [SortDescriptor(\.weight)]
      case .weightDown: [SortDescriptor(\.weight, order: .reverse)]
      case .label: [SortDescriptor(\.label, comparator: .lexical)]
      case .labelDown:
        [SortDescriptor(\.label, comparator: .lexical, order: .reverse), SortDescriptor(\.time)]
      case .size: [SortDescriptor(\.size)]
      case .sizeDown: [SortDescriptor(\.size, order: .reverse)]
      case .tag: [SortDescriptor(\.tag), SortDescriptor(\.number)]
      case .topic: [SortDescriptor(\.topic?.rank)]
      case .topicDown: [SortDescriptor(\.topic?.rank, order: .reverse)]
      case .rowsDown: [SortDescriptor(\.persistentModelID, order: .reverse)]
      }
    }
  }

  @Test(arguments: Order.allCases, [false, true])
  func `are the fetch, one behind the other and back`(order: Order, isFiltered: Bool) throws {
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Entry>(sortBy: order.descriptors)
    if isFiltered { descriptor.predicate = #Predicate { $0.number > 20 && $0.label != "z" } }
    let whole = try context.fetch(descriptor).map(\.number)
    descriptor.fetchLimit = 7
    var page = try context.page(descriptor)
    var found = page.models.map(\.number)
    while let next = page.next {
      page = try context.page(descriptor, after: next)
      found += page.models.map(\.number)
    }
    #expect(found == whole)
    var back = page.models.map(\.number)
    while let previous = page.previous {
      page = try context.page(descriptor, before: previous)
      back = page.models.map(\.number) + back
    }
    #expect(back == whole)
  }

  @Test(arguments: [Order.time, .timeDown, .markDown, .label, .none])
  fileprivate func `are cut by the server, and begin where the index says`(order: Order) throws {
    let session = try ServerSession(namespace.server.url)
    let table = "\"\(namespace.name)\".\"Entry\""
    // Many more, each at a time of its own.
    try session.run(
      "INSERT INTO \(table) SELECT (jsonb_populate_record(e, jsonb_build_object('_id', e._id + n * 1000, "
        + "'number', n * 1000 + e.number, 'time', timestamptz '2020-01-01' + (n * 1000 + e.number) * interval '1 s'))).* "
        + "FROM \(table) AS e, generate_series(1, 40) AS n"
    )
    try session.run("ANALYZE \(table)")
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Entry>(sortBy: order.descriptors)
    let all = try context.fetch(descriptor)
    let place = all.count / 2
    let sort = try PageSort(descriptor.sortBy)
    let row = try #require(store.reference(of: all[place].persistentModelID))
    let position = sort.position(values: sort.values(of: all[place]), .row(row))
    descriptor.predicate = Predicate<Entry> { PositionTest(position, of: $0) }
    descriptor.fetchLimit = 10
    let found = try ModelContext(container).fetch(descriptor)
    #expect(found.map(\.number) == all[(place + 1)...].prefix(10).map(\.number))
    let work = try ServerWork(descriptor, in: store)
    #expect(work.isExact)
    if order == .time || order == .timeDown {
      #expect(work.readRowCount <= 60)
    }
  }
}
