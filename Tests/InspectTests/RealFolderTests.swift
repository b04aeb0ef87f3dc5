import ArgumentParser
import Foundation
import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// A folder on disk, with a store in it that has a row.
private final class RealFolder {
  let path: String
  var store: String { path + "/s.store" }

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "tool-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let engine = try StorageEngine.open(at: store)
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "people", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    var writer = RowWriter()
    writer.begin(RowLayout([.integer]))
    writer.set(0, integer: 5)
    let range = writer.finish()
    var batch = engine.makeBatch()
    batch.insert(
      RowReference(table: 1, key: engine.reserveKeys(1, in: 1).lowerBound),
      layout: .init(1),
      row: writer.bytes.extracting(range)
    )
    try engine.commit(&batch)
    try engine.close()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func run(_ arguments: [String]) throws -> Session.Result {
    try Session(disk: PosixFileSystem()).run(arguments)
  }
}

@Suite struct `A destination in a folder that does not exist` {
  @Test(arguments: ["backup", "salvage"])
  func `is a mistake of the user, and no damage of the store`(command: String) throws {
    let folder = try RealFolder()
    let result = try folder.run([command, folder.store, folder.path + "/none/copy.store"])
    let error = try #require(result.error)
    #expect(error.status == .usage)
    #expect(!"\(error)".contains("damaged") && !"\(error)".contains("salvage"), "\(error)")
    #expect("\(error)".contains("folder") && error.place == folder.path + "/none", "\(error)")
  }

  @Test(arguments: ["backup", "salvage"])
  func `is told from no destination at all`(command: String) {
    #expect(throws: (any Error).self) { try Inspect.parseAsRoot([command, "s.store", ""]) }
  }

  @Test func `is said by the library, too`() throws {
    let folder = try RealFolder()
    let engine = try StorageEngine.open(at: folder.store)
    let copy = folder.path + "/none/copy.store"
    let error = #expect(throws: StorageError.self) { try engine.backup(to: copy) }
    #expect(error.map { !"\($0)".contains("damaged") } ?? false)
    try engine.close()
    let made = #expect(throws: StorageError.self) { try StorageEngine.open(at: copy) }
    #expect(made.map { !"\($0)".contains("damaged") } ?? false)
  }
}

@Suite struct `A store that is named by a link` {
  static let commands = [
    ["summary"], ["segments"], ["blobs"], ["verify"], ["dump"], ["query", "Town"], ["compact"],
    ["report", "--format", "json"], ["top", "--count", "1"], ["frames"], ["history"], ["schema"],
  ]

  @Test(arguments: commands)
  func `is the store it leads to`(arguments: [String]) throws {
    let folder = try RealFolder()
    let link = folder.path + "/link.store"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "s.store")
    let result = try folder.run([arguments[0], link] + arguments.dropFirst())
    #expect(result.error == nil, "\(result.transcript)")
  }

  @Test func `takes a copy, and says so`() throws {
    let folder = try RealFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/empty",
      withIntermediateDirectories: false
    )
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "empty")
    let result = try folder.run(["backup", folder.store, link])
    #expect(result.error == nil, "\(result.transcript)")
    #expect(try folder.run(["verify", folder.path + "/empty"]).error == nil)
  }
}

@Suite struct `A store that is removed` {
  @Test func `ends what follows it`() throws {
    let folder = try RealFolder()
    var session = Session(disk: PosixFileSystem())
    var lookCount = 0
    session.pause = { _ in
      lookCount += 1
      if lookCount == 2 { try? FileManager.default.removeItem(atPath: folder.store) }
      return lookCount < 5 ? .proceed : .stop
    }
    let result = try session.run("tail", "-f", folder.store)
    #expect(lookCount == 2)
    #expect(result.error?.what == "there is no store")
    #expect(result.status == .usage)
  }
}

@Suite struct `A path that is neither a folder nor a file` {
  @Test(arguments: ["summary", "verify", "dump", "history", "compact"])
  func `is no store, and so not a damaged one`(command: String) throws {
    let result = try Session(disk: PosixFileSystem()).run(command, "/dev/null")
    let error = try #require(result.error)
    #expect(error.status == .usage, "\(error)")
    #expect(!"\(error)".contains("remove it") && !"\(error)".contains("damaged"), "\(error)")
  }
}

@Suite struct `What an import can read from` {
  /// Lines of numbers that do not fit the buffer of a pipe, with a header or without one.
  private static let rowCount = 40_000
  private static let csv = "people\n" + (0..<rowCount).map { "\($0)\n" }.joined()
  private static let ndjson = (0..<rowCount).map { "{\"people\":\($0)}\n" }.joined()

  private func expectImport(of path: String, into folder: RealFolder) throws {
    let result = try folder.run(["import", folder.store, "Town", path])
    #expect(result.output == "imported 40,000 rows into Town, in 1 commit\n", "\(result.error)")
    let count = try folder.run(["query", folder.store, "Town", "--columns", "count,sum(people)"])
    #expect(count.output.contains("799980005"), "\(count.output)")
  }

  @Test(arguments: [csv, ndjson])
  func `includes the output of a command`(text: String) throws {
    let folder = try RealFolder()
    let pipe = Pipe()
    let end = pipe.fileHandleForWriting
    Thread.detachNewThread {
      try? end.write(contentsOf: Data(text.utf8))
      try? end.close()
    }
    try withExtendedLifetime(pipe.fileHandleForReading) { start in
      try expectImport(of: "/dev/fd/\(start.fileDescriptor)", into: folder)
    }
  }

  @Test(arguments: [csv, ndjson])
  func `includes a named pipe`(text: String) throws {
    let folder = try RealFolder()
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    Thread.detachNewThread {
      guard let end = FileHandle(forWritingAtPath: path) else { return }
      try? end.write(contentsOf: Data(text.utf8))
      try? end.close()
    }
    try expectImport(of: path, into: folder)
  }

  @Test func `includes an open file without a name, and one behind a link`() throws {
    let folder = try RealFolder()
    let path = folder.path + "/towns"
    try Self.csv.write(toFile: path, atomically: false, encoding: .utf8)
    let file = try #require(FileHandle(forReadingAtPath: path))
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try expectImport(of: link, into: folder)
    try FileManager.default.removeItem(atPath: path)
    #if os(Linux)
    let other = try RealFolder()
    try expectImport(of: "/dev/fd/\(file.fileDescriptor)", into: other)
    #endif
    let error = try #require(try folder.run(["import", folder.store, "Town", link]).error)
    #expect(error.what == "there is no such file")
    try file.close()
  }

  @Test func `is no device and no folder, and the error says so`() throws {
    let folder = try RealFolder()
    for (path, found) in [("/dev/null", "a device"), (folder.path, "a folder")] {
      let error = try #require(try folder.run(["import", folder.store, "Town", path]).error)
      #expect(error.what == "that cannot be read")
      #expect((error.expected, error.found) == ("a file or a pipe", found))
      #expect((error.place, error.status) == (path, .usage))
    }
  }
}
