import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

@Suite struct `A configuration` {
  struct Refused: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let words: String
    let change: @Sendable (inout LogStoreConfiguration) -> Void

    init(
      _ name: String,
      _ words: String,
      _ change: @escaping @Sendable (inout LogStoreConfiguration) -> Void
    ) {
      testDescription = name
      self.words = words
      self.change = change
    }
  }

  static let refused = [
    Refused("a cache", "cacheByteCount to be zero or more, found -5") { $0.cacheByteCount = -5 },
    Refused("a threshold", "externalStorageThreshold to be zero or more, found -1") {
      $0.externalStorageThreshold = -1
    },
    Refused("a memory limit", "aggregateMemoryLimit to be zero or more, found -1") {
      $0.aggregateMemoryLimit = -1
    },
    Refused("an interval", "expirationInterval to be zero or more, found -1.0 seconds") {
      $0.expirationInterval = .seconds(-1)
    },
    Refused("a wait", "turnTimeout to be zero or more, found -1.0 seconds") {
      $0.turnTimeout = .seconds(-1)
    },
    Refused("a slow fetch", "slowFetchThreshold to be zero or more, found -1.0 seconds") {
      $0.slowFetchThreshold = .seconds(-1)
    },
    Refused("an age", "compaction.historyAge to be zero or more, found -5.0 seconds") {
      $0.compaction = .init(.automatic, historyAge: .seconds(-5))
    },
    Refused("a history", "compaction.historyByteCount to be zero or more, found -1") {
      $0.compaction = .init(.automatic, historyByteCount: -1)
    },
    Refused("a relaxed interval", "interval of .relaxed(interval:) to be zero or more") {
      $0 = LogStoreConfiguration(url: $0.url, durability: .relaxed(interval: .seconds(-1)))
    },
  ]

  @Test(arguments: refused)
  func `is refused with a negative limit, before anything is made`(_ refused: Refused) throws {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "x.store"))
    refused.change(&configuration)
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(for: Limited.self, configurations: configuration)
    }
    #expect(error == .loadIssueModelContainer)
    #expect(error?.message.contains(refused.words) == true, "\(String(describing: error))")
    #expect(!FileManager.default.fileExists(atPath: configuration.url.path))
  }

  @Test func `may have limits of zero`() throws {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "x.store"),
      durability: .relaxed(interval: .zero)
    )
    configuration.externalStorageThreshold = 0
    configuration.compaction = .init(.automatic, historyAge: .zero, historyByteCount: 0)
    configuration.turnTimeout = .zero
    _ = try ModelContainer(for: Limited.self, configurations: configuration)
  }

  @Test(
    arguments: [
      (.owner, 0o700), (.groupReads, 0o750),
    ] as [(StorePermissions, Int)]
  )
  func `gives the folders made on the way the permissions of the store`(
    permissions: StorePermissions,
    mode: Int
  ) throws {
    let folder = try TemporaryFolder()
    let outer = folder.url.appending(path: "outer")
    var configuration = LogStoreConfiguration(url: outer.appending(path: "inner/x.store"))
    configuration.permissions = permissions
    let former = umask(0)
    defer { umask(former) }
    _ = try ModelContainer(for: Limited.self, configurations: configuration)
    for path in [outer.path, outer.appending(path: "inner").path, configuration.url.path] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
    }
  }

  @Test func `says which folder on the way cannot be made`() throws {
    let folder = try TemporaryFolder()
    try Data("a file".utf8).write(to: folder.url.appending(path: "file"))
    let url = folder.url.appending(path: "file/inner/x.store")
    let error = #expect(throws: (any Error).self) {
      try ModelContainer(for: Limited.self, configurations: LogStoreConfiguration(url: url))
    }
    #expect("\(try #require(error))".contains("file/inner cannot be made"))
  }
}

@Model private final class Limited {
  var number = 0

  init() {}
}
