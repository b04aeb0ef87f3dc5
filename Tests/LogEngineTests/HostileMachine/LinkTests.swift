import Foundation
import LogEngine
import LogTools
import Testing

@Suite struct `A symbolic link in a store` {
  @Test(
    arguments: ["tmp", "staged", "log", "pack", "index", "blobs", "LOCK"],
    [StoreCommand.open, .compact]
  )
  func `is refused by a writer, which leaves alone what it leads to`(
    name: String,
    command: StoreCommand
  ) throws {
    let store = try HostileStore()
    let before = try store.precious()
    let target = name == "LOCK" ? store.victim + "/letter.txt" : store.victim
    try store.link(name, to: target)
    #expect(
      throws: StorageError.unexpectedFile(
        path: store.path + "/" + name,
        expected: name == "LOCK" ? .file : .directory,
        found: .link
      )
    ) { try command.run(on: store.path, aside: store.folder + "/copy") }
    #expect(try store.precious() == before)
  }

  @Test func `in the place of a folder of blobs is refused by a writer`() throws {
    let store = try HostileStore()
    try FileManager.default.createDirectory(
      atPath: store.path + "/blobs",
      withIntermediateDirectories: false
    )
    try store.link("blobs/00", to: store.victim)
    #expect(
      throws: StorageError.unexpectedFile(
        path: store.path + "/blobs/00",
        expected: .directory,
        found: .link
      )
    ) { try StoreCommand.open.run(on: store.path, aside: "") }
  }

  @Test(arguments: StoreCommand.allCases.filter { $0 != .inspect })
  func `in the place of a segment is refused by every command`(command: StoreCommand) throws {
    let store = try HostileStore()
    let last = try #require(store.names(in: "log").last)
    try store.link("log/" + last, to: store.folder + "/aside")
    if command == .salvage {
      // What can be read otherwise is.
      let copy = store.folder + "/copy"
      #expect(try StorageEngine.salvage(at: store.path, to: copy).isComplete == false)
    } else {
      #expect(throws: (any Error).self) {
        try command.run(on: store.path, aside: store.folder + "/copy")
      }
    }
  }

  @Test(arguments: ["tmp", "staged", "log", "pack", "index", "blobs"])
  func `is named as damage when the store is checked`(name: String) throws {
    let store = try HostileStore()
    try store.link(name, to: store.victim)
    let report = try StorageEngine.verify(at: store.path)
    #expect(report.problems.map(\.path) == [store.path + "/" + name])
    #expect(!report.isSound)
  }

  @Test func `may lead to the store itself`() throws {
    let store = try HostileStore()
    let link = store.folder + "/link.store"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "s.store")
    for (index, command) in StoreCommand.allCases.enumerated() {
      try command.run(on: link, aside: store.folder + "/copy \(index)")
    }
    #expect(try StorageEngine.verify(at: store.path).isSound)
  }

  @Test func `under the name of a file to be made is neither followed nor kept`() throws {
    let store = try HostileStore()
    let before = try store.precious()
    try store.link("tmp/manifest", to: store.victim + "/letter.txt")
    try StoreCommand.compact.run(on: store.path, aside: "")
    #expect(try store.precious() == before)
  }
}

@Suite struct `A second name of a file outside of the store` {
  @Test(arguments: ["manifest", "checkpoint", "pack", "segment"])
  func `loses its name, and keeps its bytes`(name: String) throws {
    let store = try HostileStore()
    let before = try store.precious()
    let engine = try StorageEngine.open(at: store.path)
    try FileManager.default.linkItem(
      atPath: store.victim + "/letter.txt",
      toPath: store.path + "/tmp/" + name
    )
    try engine.compact()
    try engine.checkpoint()
    try engine.close()
    #expect(try store.precious() == before)
  }
}

@Suite struct `A file of the user in a store` {
  @Test(arguments: [
    "tmp/notes.txt", "tmp/torn-notes", "tmp/manifest.bak", "tmp/blob-12", "staged/notes.txt",
    "staged/log/notes.txt", "staged/tmp/letter", "index/notes.txt", "log/notes.txt",
    "blobs/00/notes.txt", "notes.txt",
  ])
  func `stays where it is`(name: String) throws {
    let store = try HostileStore()
    let place = store.path + "/" + name
    try FileManager.default.createDirectory(
      atPath: (place as NSString).deletingLastPathComponent,
      withIntermediateDirectories: true
    )
    try Data("mine".utf8).write(to: URL(filePath: place))
    // Killed, and not closed: the next opening cleans up.
    var engine: StorageEngine? = try StorageEngine.open(at: store.path)
    engine = nil
    #expect(engine == nil)
    try StoreCommand.open.run(on: store.path, aside: "")
    try StoreCommand.compact.run(on: store.path, aside: "")
    #expect(try String(contentsOfFile: place, encoding: .utf8) == "mine")
  }

  @Test func `stays in a copy that was being prepared, whose own files go`() throws {
    let store = try HostileStore()
    let staged = store.path + "/staged"
    try FileManager.default.copyItem(atPath: store.path, toPath: store.folder + "/copy")
    try FileManager.default.moveItem(atPath: store.folder + "/copy", toPath: staged)
    try Data("mine".utf8).write(to: URL(filePath: staged + "/log/notes.txt"))
    try StoreCommand.open.run(on: store.path, aside: "")
    let left = FileManager.default.enumerator(atPath: staged)?.allObjects as? [String] ?? []
    #expect(left.sorted() == ["log", "log/notes.txt"])
  }
}
