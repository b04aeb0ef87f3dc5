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
