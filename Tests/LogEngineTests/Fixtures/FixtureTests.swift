import Foundation
import LogEngine
import LogEngineTestSupport
import Testing

/// The format is a promise: what a version has written, every later one reads.
@Suite struct `A store of an earlier version` {
  /// A fixture is two files in the folder `Stores`: what was on disk, and what was in it.
  struct Fixture: CustomTestStringConvertible {
    var name: String
    var wasClosed: Bool
    var testDescription: String { name }

    func text(_ suffix: String) throws -> String {
      let folder = try #require(Bundle.module.url(forResource: "Stores", withExtension: nil))
      return try String(contentsOf: folder.appending(path: "\(name).\(suffix)"), encoding: .utf8)
    }
  }

  static let fixtures = [
    Fixture(name: "closed-1.0", wasClosed: true), Fixture(name: "killed-1.0", wasClosed: false),
    Fixture(name: "compacted-1.0", wasClosed: true),
    // Closed by a writer that cut off all but so many bytes of the mark.
    Fixture(name: "cut-close-mark-0", wasClosed: false),
    Fixture(name: "cut-close-mark-16", wasClosed: false),
    Fixture(name: "cut-close-mark-32", wasClosed: false),
  ]

  private func open(
    _ disk: some FileSystem,
    _ mode: EngineOptions.Mode
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.background = .caller
    options.mode = mode
    options.missingStore = .fail
    return try StorageEngine.open(at: "store", options: options, fileSystem: disk)
  }

  @Test(arguments: fixtures)
  func `has the rows it had`(fixture: Fixture) throws {
    let disk = InMemoryFileSystem()
    try FileListing.make(fixture.text("files"), in: "store", on: disk)
    let expected = try fixture.text("rows")
    let reader = try open(disk, .readOnly)
    #expect(reader.recovery.wasClosedCleanly == fixture.wasClosed)
    #expect(try RowListing.text(of: reader) == expected)
    let writer = try open(disk, .readWrite)
    #expect(try RowListing.text(of: writer) == expected)
    try writer.close()
    #expect(try RowListing.text(of: try open(disk, .readOnly)) == expected)
  }

  @Test(arguments: fixtures)
  func `goes on`(fixture: Fixture) throws {
    let disk = InMemoryFileSystem()
    try FileListing.make(fixture.text("files"), in: "store", on: disk)
    let writer = try open(disk, .readWrite)
    let before = writer.lastCommit.rawValue
    try writer.apply([.addTable(name: "new")])
    let listing = try RowListing.text(of: writer)
    try writer.close()
    let again = try open(disk, .readOnly)
    #expect(again.lastCommit.rawValue == before + 1)
    #expect(try RowListing.text(of: again) == listing)
  }

  /// Makes fixtures of today's version.
  ///
  ///     LOGENGINE_WRITE_FIXTURES=Tests/LogEngineTests/Fixtures/Stores Tools/swift test --filter Fixtures
  ///
  /// For a new version of the format change their names first: one that was published stays as it is.
  @Test(
    .enabled(if: ProcessInfo.processInfo.environment["LOGENGINE_WRITE_FIXTURES"] != nil)
  )
  func `is made`() throws {
    let folder = ProcessInfo.processInfo.environment["LOGENGINE_WRITE_FIXTURES"] ?? ""
    try write(FixtureScript.closedStore(), to: "\(folder)/closed-1.0")
    try write(FixtureScript.killedStore(), to: "\(folder)/killed-1.0")
    try write(FixtureScript.compactedStore(), to: "\(folder)/compacted-1.0")
  }

  private func write(_ disk: Disk, to path: String) throws {
    for suffix in ["files", "rows"] {
      try #require(!FileManager.default.fileExists(atPath: "\(path).\(suffix)"))
    }
    let files = FileListing.text(of: disk, in: FixtureScript.path)
    let copy = InMemoryFileSystem()
    try FileListing.make(files, in: "store", on: copy)
    let rows = try RowListing.text(of: open(copy, .readOnly))
    try Data(files.utf8).write(to: URL(fileURLWithPath: "\(path).files"))
    try Data(rows.utf8).write(to: URL(fileURLWithPath: "\(path).rows"))
  }
}
