import Foundation
import LogEngine
import LogStore
import SchedulePoints
import SwiftData
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

private enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Left.self, Right.self] }

  @Model final class Left {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  @Model final class Right {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

private enum V2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Left.self, Right.self] }

  @Model final class Left {
    var number: Int
    var extra: Int = 2
    init(_ number: Int) { self.number = number }
  }
  @Model final class Right {
    var number: Int
    var extra: Int = 2
    init(_ number: Int) { self.number = number }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: V1.self, toVersion: V2.self)]
  }
}

@Suite struct `Opening a container of several stores` {
  private let folder: TemporaryFolder
  private var left: URL { folder.url.appending(path: "left.store") }
  private var right: URL { folder.url.appending(path: "right.store") }

  init() throws { folder = try TemporaryFolder() }

  private static func configuration(
    _ models: any PersistentModel.Type,
    _ version: Schema.Version,
    at url: URL,
    allowsSave: Bool = true,
    writers: LogStoreConfiguration.Writers = .oneProcess
  ) -> LogStoreConfiguration {
    var configuration = LogStoreConfiguration(
      models == V1.Left.self || models == V2.Left.self ? "left" : "right",
      schema: Schema([models], version: version),
      url: url,
      allowsSave: allowsSave
    )
    configuration.writers = writers
    return configuration
  }

  private func make() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: V1.self),
        configurations: Self.configuration(V1.Left.self, .init(1, 0, 0), at: left),
        Self.configuration(V1.Right.self, .init(1, 0, 0), at: right)
      )
    )
    context.insert(V1.Left(1))
    context.insert(V1.Right(1))
    try context.save()
  }

  enum Obstacle: CaseIterable {
    case otherProcess, cutSegment, damagedManifest, file, otherFolder, missingAndReadOnly
    case noFolderAbove, samePlace, link
  }

  /// Puts something in the way of the second store.
  ///
  /// - Returns: What ends it.
  private func put(_ obstacle: Obstacle) throws -> () -> Void {
    let files = FileManager.default
    switch obstacle {
    case .otherProcess:
      let descriptor = open(right.path + "/LOCK", O_RDWR)
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      return { close(descriptor) }
    case .cutSegment:
      let log = right.appending(path: "log")
      for name in try files.contentsOfDirectory(atPath: log.path) {
        #expect(truncate(log.path + "/" + name, 100) == 0)
      }
    case .damagedManifest:
      for name in try files.contentsOfDirectory(atPath: right.path)
      where name.hasPrefix("manifest") {
        var bytes = try Data(contentsOf: right.appending(path: name))
        bytes[4140] ^= 1
        try bytes.write(to: right.appending(path: name))
      }
    case .file:
      try files.removeItem(at: right)
      try Data("x".utf8).write(to: right)
    case .otherFolder:
      try files.removeItem(at: right)
      try files.createDirectory(at: right, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: right.appending(path: "x.txt"))
    case .missingAndReadOnly: try files.removeItem(at: right)
    case .noFolderAbove: try Data("x".utf8).write(to: folder.url.appending(path: "above"))
    case .samePlace: break
    case .link:
      try files.removeItem(at: right)
      try files.createSymbolicLink(at: right, withDestinationURL: left)
    }
    return {}
  }

  private func place(_ obstacle: Obstacle) -> URL {
    switch obstacle {
    case .samePlace: left
    case .noFolderAbove: folder.url.appending(path: "above/right.store")
    default: right
    }
  }

  /// The files of the first store.
  private func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: left.path)
    where name != "LOCK" {
      contents[name] = FileManager.default.contents(atPath: left.path + "/" + name)
    }
    return contents
  }

  /// Otherwise each of two processes may have one of the stores, and wait for the other.
  @Test func `gives no store to others from its decision to change it until it is changed`() throws
  {
    try make()
    let path = left.path
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let refusals = Mutex<[Bool]>([])
    let hook = ScheduleHook { point in
      guard point == .beforeOpening, thread == UInt(bitPattern: Int(bitPattern: pthread_self()))
      else { return }
      do {
        try StorageEngine.hold(at: path, .shared).close()
        refusals.withLock { $0.append(false) }
      } catch {
        refusals.withLock { $0.append(true) }
      }
    }
    defer { hook.remove() }
    let container = try ModelContainer(
      for: Schema(versionedSchema: V2.self),
      migrationPlan: Plan.self,
      configurations: Self.configuration(
        V2.Left.self,
        .init(2, 0, 0),
        at: left,
        writers: .severalProcesses
      ),
      Self.configuration(V2.Right.self, .init(2, 0, 0), at: right, writers: .severalProcesses)
    )
    // The first opening changes the store, the second joins those who have it open.
    #expect(refusals.withLock { $0.prefix(2) } == [true, false])
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<V2.Left>()).map(\.extra) == [2])
    #expect(try context.fetch(FetchDescriptor<V2.Right>()).map(\.extra) == [2])
    context.insert(V2.Left(2))
    try context.save()
  }

  @Test(arguments: Obstacle.allCases, [true, false])
  func `changes none of them if one cannot be opened`(
    obstacle: Obstacle,
    hasPlan: Bool
  ) throws {
    try make()
    let end = try put(obstacle)
    defer { end() }
    let before = try contents()
    for isReversed in [false, true] {
      let configurations = [
        Self.configuration(V2.Left.self, .init(2, 0, 0), at: left),
        Self.configuration(
          V2.Right.self,
          .init(2, 0, 0),
          at: place(obstacle),
          allowsSave: obstacle != .missingAndReadOnly
        ),
      ]
      #expect(throws: (any Error).self) {
        try ModelContainer(
          for: Schema(versionedSchema: V2.self),
          migrationPlan: hasPlan ? Plan.self : nil,
          configurations: isReversed ? configurations.reversed() : configurations
        )
      }
      #expect(try contents() == before)
    }
    // The first store is nobody's.
    let container = try ModelContainer(
      for: V1.Left.self,
      configurations: Self.configuration(V1.Left.self, .init(1, 0, 0), at: left)
    )
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<V1.Left>()) == 1)
  }

  @Test(arguments: [LogStoreConfiguration.Writers.oneProcess, .severalProcesses])
  func `succeeds once nothing is in the way`(
    writers: LogStoreConfiguration.Writers
  ) throws {
    try make()
    let end = try put(.otherProcess)
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: V2.self),
        migrationPlan: Plan.self,
        configurations: Self.configuration(
          V2.Left.self,
          .init(2, 0, 0),
          at: left,
          writers: writers
        ),
        Self.configuration(V2.Right.self, .init(2, 0, 0), at: right, writers: writers)
      )
    }
    if writers == .oneProcess { #expect(throws: LogStoreError.self) { try open() } }
    end()
    // The second container shares the stores of the first.
    let containers = try [open(), open()]
    for container in containers {
      let context = ModelContext(container)
      #expect(try context.fetch(FetchDescriptor<V2.Left>()).map(\.extra) == [2])
      #expect(try context.fetch(FetchDescriptor<V2.Right>()).map(\.extra) == [2])
    }
  }

  @Test(arguments: [
    ("new.store", "new.store/log"), ("new.store/log", "new.store"), ("new.store", "new.store/a/b"),
    ("new.store", "link/new.store/sub.store"), ("new.store/..", "new.store"),
  ])
  func `makes none of them if one lies in another`(first: String, second: String) throws {
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
    for writers in [LogStoreConfiguration.Writers.oneProcess, .severalProcesses] {
      #expect(throws: SwiftDataError.duplicateConfiguration) {
        try ModelContainer(
          for: Schema(versionedSchema: V1.self),
          configurations: Self.configuration(
            V1.Left.self,
            .init(1, 0, 0),
            at: folder.url.appending(path: first),
            writers: writers
          ),
          Self.configuration(
            V1.Right.self,
            .init(1, 0, 0),
            at: folder.url.appending(path: second),
            writers: writers
          )
        )
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["link"])
    }
  }

  @Test func `does not take a longer name for a place in a folder`() throws {
    _ = try ModelContainer(
      for: Schema(versionedSchema: V1.self),
      configurations: Self.configuration(V1.Left.self, .init(1, 0, 0), at: left),
      Self.configuration(
        V1.Right.self,
        .init(1, 0, 0),
        at: folder.url.appending(path: "left.store.more")
      )
    )
  }

  @Test func `may be done by any number of threads, whatever the order of the stores`() throws {
    try make()
    let failures = Mutex<[String]>([])
    let (left, right) = (left, right)
    DispatchQueue.concurrentPerform(iterations: 16) { number in
      do {
        let configurations = [
          Self.configuration(V2.Left.self, .init(2, 0, 0), at: left),
          Self.configuration(V2.Right.self, .init(2, 0, 0), at: right),
        ]
        let container = try ModelContainer(
          for: Schema(versionedSchema: V2.self),
          migrationPlan: Plan.self,
          configurations: number % 2 == 0 ? configurations : configurations.reversed()
        )
        let count = try ModelContext(container).fetchCount(FetchDescriptor<V2.Right>())
        if count != 1 { failures.withLock { $0.append("found \(count)") } }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
  }
}
