import Foundation
import LogEngine
import Testing

@Suite struct `A pipe in a store` {
  /// A pipe under a name would make who opens it wait for ever.
  @Test(
    .timeLimit(.minutes(30)),
    arguments: StoreCommand.allCases,
    [
      "LOCK", "manifest", "manifest.00000000000000ff", "log/00000000000000ff.seg", "log", "pack",
      "index",
    ]
  )
  func `is refused, and nobody waits for its other end`(
    command: StoreCommand,
    name: String
  ) throws {
    let store = try HostileStore()
    var place = store.path + "/" + name
    switch name {
    case "manifest":
      let manifests = store.names(in: ".").filter { $0.hasPrefix("manifest.") }
      place = store.path + "/" + (try #require(manifests.last))
    case "log", "pack", "index":
      place = store.path + "/" + name + "/" + (try #require(store.names(in: name).last))
    default: break
    }
    try? FileManager.default.removeItem(atPath: place)
    try #require(mkfifo(place, 0o644) == 0)
    do {
      try command.run(on: store.path, aside: store.folder + "/copy")
      // A reader has no use for the lock; a checkpoint is passed over; salvage and inspection go on.
      let isNeeded =
        command == .salvage || command == .inspect || name == "index"
        || name == "LOCK" && command != .open && command != .compact
      #expect(isNeeded, "\(command) took no offence at a pipe in \(name)")
    } catch let error as StorageError {
      let expected = StorageError.unexpectedFile(path: place, expected: .file, found: .pipe)
      #expect(error == expected)
    } catch is StoreCommand.VerificationFailure {
      #expect(command == .verify)
    }
  }

  @Test func `and a device, a socket and a folder are told apart`() throws {
    let fileSystem = PosixFileSystem()
    let folder = try HostileStore().folder + "-kinds"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try #require(mkfifo(folder + "/pipe", 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/link",
      withDestinationPath: "nothing"
    )
    let kinds: [(String, FileKind)] = [
      (folder + "/pipe", .pipe), (folder + "/link", .link), ("/dev/null", .device),
      (folder, .directory),
    ]
    for (path, kind) in kinds {
      for mode in [OpenMode.read, .write, .create] {
        #expect(throws: StorageError.unexpectedFile(path: path, expected: .file, found: kind)) {
          _ = try fileSystem.open(path, mode)
        }
      }
      #expect(try fileSystem.status(of: path)?.kind == kind)
    }
    #expect(try fileSystem.status(of: folder + "/absent") == nil)
  }
}
