import Foundation
import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A place for output in the folder of a store` {
  /// Every command that writes to a place that the user names.
  static let commands: [@Sendable (_ store: String, _ place: String) -> [String]] = [
    { ["report", $0, "--html", $1] },
    { ["backup", $0, $1] },
    { ["salvage", $0, $1] },
    { ["export", $0, "Photo", "--blobs", $1] },
    { ["blobs", $0, "--export", $1] },
    { ["shell", $0, "--command", ".output \($1)"] },
    { ["shell", $0, "--command", ".once \($1)"] },
  ]

  private static func files(_ store: TownStore, in folder: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try store.disk.list(folder) ?? [] {
      let path = folder + "/" + name
      if try store.disk.list(path) != nil {
        files.merge(try Self.files(store, in: path)) { $1 }
        files[path + "/"] = []
      } else {
        files[path] = try UserFile(path: path, on: store.disk).contents()
      }
    }
    return files
  }

  @Test(
    arguments: commands.indices,
    ["LOCK", "log/0000000000000001.seg", "log", "new", "new/folder", "blobs/00/x"]
  )
  func `is refused by every command, before anything is written`(
    command: Int,
    name: String
  ) throws {
    let store = try TownStore()
    let before = try Self.files(store, in: store.path)
    let arguments = Self.commands[command](store.path, store.path + "/" + name)
    let result = try Session(disk: store.disk).run(arguments)
    #expect(
      result.transcript.contains("nothing can be written into the folder of a store"),
      "\(result.transcript)"
    )
    #expect(result.status == .usage)
    #expect(try Self.files(store, in: store.path) == before)
  }

  @Test func `is refused also if the store is not the one that is read`() throws {
    let store = try TownStore()
    try store.copy(to: "other.store")
    let result = try Session(disk: store.disk)
      .run("export", store.path, "Photo", "--blobs", "other.store")
    #expect(result.status == .usage)
    #expect(try store.disk.list("other.store")?.contains { $0.contains("Photo") } == false)
  }

  @Test func `is recognized behind links and points, and a place beside it is none`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "place-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = folder + "/s.store"
    try StorageEngine.open(at: store).close()
    let files = FileManager.default
    try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "s.store")
    try files.createSymbolicLink(atPath: folder + "/page", withDestinationPath: "s.store/new.html")
    let session = Session(disk: PosixFileSystem())
    for place in [
      "/link/page", "/page", "/none/../s.store/page", "/link/log/page", "/s.store/page",
    ] {
      let result = try session.run("report", store, "--html", folder + place)
      #expect(result.error?.what == "nothing can be written into the folder of a store", "\(place)")
    }
    #expect(try session.run("report", store, "--html", folder + "/page.html").error == nil)
    #expect(try session.run("report", store, "--html", folder + "/page.html").error == nil)
    #expect(try session.run("backup", store, folder + "/copy.store").error == nil)
  }
}
