import LogEngine
import LogEngineTestSupport
import LogTools
import Terminal
import Testing

@testable import logstore_inspect

/// Every command of the inspector, on whole stores with changes anywhere under right checksums.
@Suite struct `Fuzzing the inspector's commands` {
  private static let store = FuzzedStore.path

  private static let commands: [[String]] = [
    ["summary", store], ["summary", store, "--format", "json"], ["dump", store, "--all"],
    ["dump", store, "--format", "ndjson"], ["dump", store, "--entity", "Thing", "--format", "csv"],
    ["get", store, "Thing", "7"], ["get", store, "Thing", "2", "--format", "json"],
    ["schema", store, "--versions"], ["schema", store, "--format", "json"], ["blobs", store],
    ["history", store, "--changes"], ["history", store, "--last", "2", "--format", "ndjson"],
    ["segments", store], ["frames", store, "--hex"], ["frames", store, "--format", "ndjson"],
    ["verify", store], ["verify", store, "--unmapped", "--format", "json"],
    ["report", store, "--html", "-"], ["report", store, "--format", "json"],
    ["diff", store + "@6", store], ["salvage", store, "rescued"], ["backup", store, "copy"],
    ["compact", store],
  ]

  @Test(.enabled(if: FuzzRun.isAsked))
  func `finds no store that makes one trap, hang or take memory without bound`() throws {
    guard let run = FuzzRun("commands", count: 25) else { return }
    let image = try FuzzedStore.image()
    let forger = StoreForger(image.files)
    let failures = run.run { random in
      var forged = image
      forged.files = forger.forge(using: &random)
      for command in Self.commands {
        let disk = InMemoryFileSystem()
        try forged.write(to: disk)
        let result = try Session(disk: disk).run(command)
        // Whatever is wrong, the tool says it in its own words.
        if let error = result.error, error.what.isEmpty { throw error }
      }
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  /// A row is damaged, and the key of another is far beyond it.
  @Test(.timeLimit(.minutes(30)), arguments: [8_000_124 as UInt64])
  func `ends on stores that it once did not end on`(seed: UInt64) throws {
    var image = try FuzzedStore.image()
    var random = FuzzRun.generator(seed: seed, of: "commands")
    image.files = StoreForger(image.files).forge(using: &random)
    for command in Self.commands {
      let disk = InMemoryFileSystem()
      try image.write(to: disk)
      _ = try Session(disk: disk).run(command)
    }
  }

  @Test func `begins with commands that all succeed on the store as it was`() throws {
    let image = try FuzzedStore.image()
    for command in Self.commands {
      let disk = InMemoryFileSystem()
      try image.write(to: disk)
      let result = try Session(disk: disk).run(command)
      let mayFail = command[0] == "diff"
      #expect(result.error == nil || mayFail, "\(command): \(result.transcript)")
    }
    let disk = InMemoryFileSystem()
    let forged = StoreForger(image.files)
    #expect(forged.sealed == StoreForger(forged.sealed).sealed)
    var unchanged = image
    unchanged.files = forged.sealed
    try unchanged.write(to: disk)
    #expect(try StorageEngine.verify(at: Self.store, fileSystem: disk).isSound)
  }
}
