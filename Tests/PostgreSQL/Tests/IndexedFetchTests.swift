import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Model private final class Sample {
  #Index<Sample>([\.number], [\.name], [\.note], [\.time, \.serial])
  @Attribute(.unique) var code: String
  @Attribute(.unique) var serial: Int
  var number: Int
  var name: String
  var note: String?
  var time: Date

  init(_ serial: Int) {
    code = "\(serial)"
    self.serial = serial
    number = serial
    name = ""
    time = Date(timeIntervalSinceReferenceDate: Double(serial))
  }
}

@Suite struct `A fetch that an index serves on a PostgreSQL server` {
  private static let rowCount = 4000
  private let namespace: TestNamespace
  private let session: ServerSession
  private let container: ModelContainer
  private let store: PostgresStore

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.server.url)
    container = try namespace.container(Sample.self)
    store = try #require(container.stores(of: PostgresStore.self).first)
    let first = Int(try #require(store.table(forEntityNamed: "Sample"))) << 48
    // In an order that no sort has; every tenth without a note.
    try session.run(
      "INSERT INTO \(table) (_id, code, serial, number, name, note, time) SELECT \(first) + n, 'c' || n, "
        + "(n * 7919) % 4001, (n * 3571) % 4001, 'm' || (n * 17) % 4001, CASE WHEN n % 10 > 0 THEN 'n' || (n * 31) % 4001 END, "
        + "timestamptz '2024-01-01' + ((n * 613) % 4001) / 3 * interval '1 minute' "
        + "FROM generate_series(1, \(Self.rowCount)) AS n"
    )
    try session.run("UPDATE \(namespace.name)._logstore_entity SET next_key = 10000")
    try session.run("ANALYZE \(table)")
  }

  private var table: String { "\"\(namespace.name)\".\"Sample\"" }

  /// How many rows the server reads.
  private func rowsRead(_ descriptor: FetchDescriptor<Sample>) throws -> Int {
    let work = try ServerWork(descriptor, in: store)
    #expect(work.isExact)
    return work.readRowCount
  }

  private func rowsRead(_ predicate: Predicate<Sample>) throws -> Int {
    try rowsRead(FetchDescriptor(predicate: predicate))
  }

  @Test func `reads one row for a unique text`() throws {
    let code = "c17"
    #expect(try rowsRead(#Predicate { $0.code == code }) == 1)
    let codes = ["c17", "c18", "none"]
    #expect(try rowsRead(#Predicate { codes.contains($0.code) }) == 2)
  }

  @Test func `reads the rows whose values are some constants`() throws {
    let numbers = [5, 6, 7, -1]
    #expect(try rowsRead(#Predicate { numbers.contains($0.number) }) == 3)
    let serials = [10, 11]
    #expect(try rowsRead(#Predicate { serials.contains($0.serial) }) == 2)
    let notes: [String?] = ["n5", "n6"]
    #expect(try rowsRead(#Predicate { notes.contains($0.note) }) <= 2)
  }

  @Test func `reads the rows that match where a missing value does, too`() throws {
    #expect(try rowsRead(#Predicate { $0.number < 5 }) <= 5)
    #expect(try rowsRead(#Predicate { $0.number == 0 }) <= 1)
    let some = [0, 3]
    #expect(try rowsRead(#Predicate { some.contains($0.number) }) <= 2)
    #expect(try rowsRead(#Predicate { $0.name == "" }) == 0)
    let names = ["", "m3"]
    #expect(try rowsRead(#Predicate { names.contains($0.name) }) == 1)
  }

  @Test func `counts a missing value as what it reads as`() throws {
    try session.run("UPDATE \(table) SET number = NULL WHERE number IN (10, 20, 30)")
    func count(_ predicate: Predicate<Sample>) throws -> Int {
      try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.number == 0 }) == 3)
    #expect(try count(#Predicate { $0.number != 0 }) == Self.rowCount - 3)
    #expect(try count(#Predicate { $0.number < 3 }) == 5)
    #expect(try count(#Predicate { !($0.number < 3) }) == Self.rowCount - 5)
    let some = [0, 3]
    #expect(try count(#Predicate { some.contains($0.number) }) == 4)
    #expect(try count(#Predicate { !some.contains($0.number) }) == Self.rowCount - 4)
    let others = [3, 4]
    #expect(try count(#Predicate { others.contains($0.number) }) == 2)
  }

  enum Order: CaseIterable {
    case number, numberDown, code, codeDown, name, note, noteDown, time, timeDown, serialDown
    case noteThenNumber

    fileprivate var descriptors: [SortDescriptor<Sample>] {
      switch self {
      case .number: [SortDescriptor(\.number)]
      case .numberDown: [SortDescriptor(\.number, order: .reverse)]
      case .code: [SortDescriptor(\.code, comparator: .lexical)]
      case .codeDown: [SortDescriptor(\.code, comparator: .lexical, order: .reverse)]
      case .name: [SortDescriptor(\.name, comparator: .lexical)]
      case .note: [SortDescriptor(\.note, comparator: .lexical)]
      case .noteDown: [SortDescriptor(\.note, comparator: .lexical, order: .reverse)]
      case .time: [SortDescriptor(\.time), SortDescriptor(\.serial)]
      case .timeDown:
        [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.serial, order: .reverse)]
      case .serialDown: [SortDescriptor(\.serial, order: .reverse)]
      case .noteThenNumber:
        [SortDescriptor(\.note, comparator: .lexical), SortDescriptor(\.number)]
      }
    }
  }

  @Test(arguments: Order.allCases)
  func `reads the first rows of a sort, and no others`(order: Order) throws {
    var descriptor = FetchDescriptor<Sample>(sortBy: order.descriptors)
    descriptor.fetchLimit = 20
    // Every tenth has no note, of which an index of notes does not know the first.
    let limit = "\(order)".hasPrefix("note") ? 500 : 60
    #expect(try rowsRead(descriptor) <= limit)
    descriptor.fetchOffset = 5
    #expect(try rowsRead(descriptor) <= limit)
  }

  @Test(arguments: Order.allCases)
  func `has the rows in the order of Swift`(order: Order) throws {
    try session.run(
      "UPDATE \(table) SET number = NULL, time = NULL, name = NULL WHERE number BETWEEN 100 AND 140"
    )
    let context = ModelContext(container)
    let all = try context.fetch(FetchDescriptor<Sample>())
    #expect(all.count == Self.rowCount)
    // A fetch without a limit, and plain Swift.
    let whole = try context.fetch(FetchDescriptor(sortBy: order.descriptors))
    #expect(all.sorted(using: order.descriptors).map(\.code) == whole.map(\.code))
    for (limit, offset) in [(30, 0), (100, 30), (700, 0), (10, 380), (50, 3980)] {
      var descriptor = FetchDescriptor<Sample>(sortBy: order.descriptors)
      (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset)
      let found = try context.fetch(descriptor)
      #expect(found.map(\.code) == whole.dropFirst(offset).prefix(limit).map(\.code))
      descriptor.predicate = #Predicate { $0.number != 17 && $0.number < 3900 }
      let some = whole.filter { $0.number != 17 && $0.number < 3900 }
      let foundSome = try context.fetch(descriptor)
      #expect(foundSome.map(\.code) == some.dropFirst(offset).prefix(limit).map(\.code))
    }
  }

  private func indexes() throws -> [String] {
    try session.texts(
      "SELECT indexname::text FROM pg_indexes WHERE schemaname = '\(namespace.name)' "
        + "AND tablename = 'Sample' ORDER BY 1"
    )
  }

  @Test func `finds the indexes of a namespace of before at the next opening`() throws {
    let made = try indexes()
    try session.run("DROP INDEX IF EXISTS \"\(namespace.name)\".\"Sample_code_index\"")
    _ = try namespace.container(Sample.self)
    #expect(try indexes() == made)
    #expect(made.contains("Sample_code_index"))
  }

  @Test func `goes without an index that its role may not make`() throws {
    try session.run("DROP INDEX IF EXISTS \"\(namespace.name)\".\"Sample_code_index\"")
    try session.run("DROP INDEX IF EXISTS \"\(namespace.name)\".\"Sample_number_index\"")
    try session.run("DROP INDEX IF EXISTS \"\(namespace.name)\".\"Sample_note_trigrams\"")
    let role = "r" + namespace.name.dropFirst()
    try session.run("CREATE ROLE \(role) LOGIN")
    defer {
      try? session.run("DROP OWNED BY \(role)")
      try? session.run("DROP ROLE \(role)")
    }
    try session.run("GRANT USAGE ON SCHEMA \"\(namespace.name)\" TO \(role)")
    try session.run("GRANT USAGE ON ALL SEQUENCES IN SCHEMA \"\(namespace.name)\" TO \(role)")
    try session.run(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"\(namespace.name)\" TO \(role)"
    )
    let configuration = PostgresStoreConfiguration(
      url: namespace.configuration.url.replacing("user=postgres", with: "user=\(role)"),
      namespace: namespace.name
    )
    let context = ModelContext(
      try ModelContainer(for: Schema([Sample.self]), configurations: [configuration])
    )
    let code = "c17"
    let descriptor = FetchDescriptor<Sample>(predicate: #Predicate { $0.code == code })
    #expect(try context.fetchCount(descriptor) == 1)
    context.insert(Sample(5000))
    try context.save()
    #expect(try !indexes().contains("Sample_code_index"))
  }
}
