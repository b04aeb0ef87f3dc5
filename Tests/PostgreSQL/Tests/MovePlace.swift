import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

/// A folder for logs, and a namespace of the server.
final class MovePlace: Sendable {
  enum Direction { case toServer, fromServer }

  let folder: URL
  let namespace: TestNamespace
  var log: URL { folder.appending(path: "trips.store") }
  var back: URL { folder.appending(path: "back.store") }

  init() throws {
    namespace = try TestNamespace()
    folder = FileManager.default.temporaryDirectory.appending(path: "move-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func logContainer(at url: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [LogStoreConfiguration(url: url)]
    )
  }

  func serverContainer() throws -> ModelContainer {
    try namespace.container(Journey.self, Leg.self)
  }

  /// Runs a closure with a context of the log, which is closed with it.
  func withLog<R>(_ body: (ModelContext) throws -> R) throws -> R {
    try body(ModelContext(try logContainer(at: log)))
  }

  /// Saves a journey in the log.
  func fill() throws -> WrittenJourney {
    try withLog { context in
      let journey = Journey("one", title: "e\u{301}")
      journey.budget = Decimal(string: "12.50") ?? 0
      journey.rating = -0.0
      journey.stops = [
        Stop(place: "b", nights: 1, price: .nan, day: .distantPast, ticket: Data([0, 255]))
      ]
      journey.map = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
      journey.legs = ["c", "a", "b"].map { Leg($0) }
      context.insert(journey)
      let small = Journey("small")
      small.map = Data([1, 2, 3])
      context.insert(small)
      try context.save()
      return WrittenJourney(
        journey: try JSONEncoder().encode(journey.persistentModelID),
        leg: try JSONEncoder().encode(journey.legs[1].persistentModelID)
      )
    }
  }

  var isServerEmpty: Bool {
    get throws {
      let session = try ServerSession(namespace.server.url)
      let name = namespace.name
      return try session.integer("SELECT count(*) FROM pg_namespace WHERE nspname = '\(name)'") == 0
    }
  }

  /// The files of a store with their bytes, but for the lock's, which says who held it last.
  func files(of store: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: store.path) where name != "LOCK"
    {
      files[name] = try? Data(contentsOf: store.appending(path: name))
    }
    return files
  }

  struct Outcome {
    let status: Int32
    let output: String

    /// The digests of the tables, by name.
    func digests() throws -> [String: String] {
      try #require(status == 0, "\(output)")
      let facts = try JSONDecoder().decode(Facts.self, from: Data(output.utf8))
      return Dictionary(
        uniqueKeysWithValues: facts.tables.map { ($0.entity, "\($0.rows) \($0.digest)") }
      )
    }

    private struct Facts: Decodable {
      struct Table: Decodable {
        let entity: String
        let rows: Int
        let digest: String
      }
      let tables: [Table]
    }

    /// What was moved of saves that were made meanwhile.
    func following() throws -> Following {
      struct Facts: Decodable { let following: Following }
      return try JSONDecoder().decode(Facts.self, from: Data(output.utf8)).following
    }

    struct Following: Decodable {
      let rows: Int
      let rounds: Int
      let restarts: Int
    }
  }

  func move(_ direction: Direction, _ arguments: String..., to target: String = "back.store") throws
    -> Outcome
  {
    try move(direction, arguments, to: target)
  }

  func move(_ direction: Direction, _ arguments: [String], to target: String = "back.store") throws
    -> Outcome
  {
    try Self.run(command(direction, arguments, to: target, namespace.name))
  }

  /// The digests of the source of a move, read from the beginning, when nobody writes to it.
  func digests(_ direction: Direction) throws -> [String: String] {
    let unused = "t" + UUID().uuidString.filter { $0 != "-" }.lowercased()
    let name = direction == .toServer ? unused : namespace.name
    let outcome = try Self.run(command(direction, ["--dry-run"], to: "none.store", name))
    #expect(outcome.status == 0, "\(outcome.output)")
    return try outcome.digests()
  }

  /// Starts a move that apps write beside.
  func startMove(_ direction: Direction, _ arguments: String...) throws -> RunningMove {
    try RunningMove(
      command(direction, ["--while-writing"] + arguments, to: "back.store", namespace.name)
    )
  }

  private func command(
    _ direction: Direction,
    _ arguments: [String],
    to target: String,
    _ namespace: String
  ) -> [String] {
    let server = self.namespace.configuration.url
    let places = direction == .toServer ? [log.path, server] : [server, path(target)]
    return ["move"] + places + ["--namespace", namespace, "--format", "json"] + arguments
  }

  static var inspector: URL {
    URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "logstore-inspect")
  }

  /// Runs the inspector.
  static func run(_ arguments: [String]) throws -> Outcome {
    let process = Process()
    process.executableURL = inspector
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
  }
}

/// A journey of which an app has written down the identifiers.
struct WrittenJourney {
  let journey: Data
  let leg: Data

  func journey(in context: ModelContext) throws -> Journey? {
    let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: journey)
    return context.model(for: identifier) as? Journey
  }

  func check(in context: ModelContext, _ added: [String] = []) throws {
    let journey = try #require(try self.journey(in: context))
    #expect(Array(journey.title.unicodeScalars) == Array("e\u{301}".unicodeScalars))
    #expect(journey.budget == Decimal(string: "12.5"))
    #expect(journey.rating.sign == .minus)
    #expect(journey.stops.first?.price.isNaN == true)
    #expect(journey.stops.first?.day == .distantPast)
    #expect(journey.stops.first?.ticket == Data([0, 255]))
    #expect(journey.map?.count == 300_000)
    #expect(journey.map?.last == UInt8(truncatingIfNeeded: 299_999))
    #expect(journey.legs.map(\.place) == ["c", "a", "b"] + added)
    let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: leg)
    #expect((context.model(for: identifier) as? Leg)?.place == "a")
    #expect((context.model(for: identifier) as? Leg)?.journey === journey)
    let small = FetchDescriptor<Journey>(predicate: #Predicate { $0.code == "small" })
    #expect(try context.fetch(small).first?.map == Data([1, 2, 3]))
  }
}
