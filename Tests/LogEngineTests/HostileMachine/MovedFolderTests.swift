import Foundation
import LogEngineTestSupport
import LogTools
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// A folder that is moved takes the lock along: another process finds none in its place, and makes a store there.
@Suite struct `A store whose folder is moved while it is open` {
  private let folder: URL
  private let path: String
  private let movedPath: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "moved-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "s.store").path
    movedPath = folder.appending(path: "old.store").path
  }

  private final class Store {
    let engine: StorageEngine

    init(_ path: String, _ writers: EngineOptions.Writers) throws {
      var options = MemoryStore.options()
      options.writers = writers
      engine = try StorageEngine.open(at: path, options: options)
      if engine.catalogue.tables.isEmpty { try engine.apply(MemoryStore.tableChanges) }
    }

    func insert(_ text: String = String(repeating: "x", count: 1000)) throws {
      try engine.inTurn {
        var batch = engine.makeBatch()
        let key = try engine.takeKeys(1, in: 1).lowerBound
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          row: MemoryStore.row(Int64(key), text).span.bytes
        )
        try engine.commit(&batch)
      }
    }

    func rowCount() throws -> Int { try MemoryStore.rows(of: engine).count }
  }

  /// What the first process does once its folder is another's.
  enum Deed: CaseIterable, Sendable {
    case commits, background, checkpoint, compaction, blob, backup, closing
  }

  private func run(_ deed: Deed, _ store: Store) throws {
    switch deed {
    case .commits: for _ in 0..<100 { try store.insert() }
    case .background: for _ in 0..<100 { store.engine.performBackgroundWork() }
    case .checkpoint: try store.engine.checkpoint()
    case .compaction: try store.engine.compact()
    case .blob:
      var batch = store.engine.makeBatch()
      _ = try batch.addBlob([1, 2, 3].span.bytes)
    case .backup: try store.engine.backup(to: folder.appending(path: "copy.store").path)
    case .closing: try store.engine.close()
    }
  }

  /// All files below a path, by name.
  private func files(_ path: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? [] {
      let file = URL(filePath: path + "/" + name)
      if let bytes = try? Data(contentsOf: file) { files[name] = bytes }
    }
    return files
  }

  @Test(arguments: Deed.allCases, [EngineOptions.Writers.oneProcess, .severalProcesses])
  func `does nothing to the store that another process makes in its place`(
    deed: Deed,
    writers: EngineOptions.Writers
  ) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let first = try Store(path, writers)
      for _ in 0..<60 { try first.insert() }
      try FileManager.default.moveItem(atPath: path, toPath: movedPath)
      let second = try Store(path, writers)
      for _ in 0..<40 { try second.insert() }
      let before = try files(path)
      var error: (any Error)?
      do { try run(deed, first) } catch let failure { error = failure }
      #expect(try files(path) == before)
      if deed == .backup {
        // Of files that are open, which need no name.
        try #require(error == nil)
        #expect(try Store(folder.appending(path: "copy.store").path, writers).rowCount() == 60)
      } else if deed != .background, writers == .oneProcess || deed != .closing {
        let cause = try #require(error as? StorageError)
        #expect(cause.isOfMovedFolder(path), "\(cause)")
      }
      for _ in 0..<40 { try second.insert() }
      try second.engine.close()
    }
    #expect(try Store(path, writers).rowCount() == 80)
    #expect(try Store(movedPath, writers).rowCount() >= 60)
    #expect(try StorageEngine.verify(at: path).isSound)
  }

  @Test(arguments: [EngineOptions.Writers.oneProcess, .severalProcesses])
  func `goes on once it is back`(writers: EngineOptions.Writers) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try Store(path, writers)
      try store.insert()
      try FileManager.default.moveItem(atPath: path, toPath: movedPath)
      var count = 1
      #expect(throws: StorageError.missingFile(path: path + "/LOCK")) {
        while true {
          try store.insert()
          count += 1
        }
      }
      try FileManager.default.moveItem(atPath: movedPath, toPath: path)
      for _ in 0..<40 { try store.insert() }
      #expect(try store.rowCount() == count + 40)
      try store.engine.close()
    }
    #expect(try Store(path, writers).engine.recovery.damage == nil)
  }

  @Test(arguments: [EngineOptions.Writers.oneProcess, .severalProcesses])
  func `says so`(writers: EngineOptions.Writers) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(path, writers)
    try FileManager.default.removeItem(atPath: path)
    do {
      try store.engine.checkpoint()
      Issue.record("a checkpoint nowhere")
    } catch {
      #expect(error.description.contains("moved or removed"))
    }
  }
}

extension StorageError {
  fileprivate func isOfMovedFolder(_ path: String) -> Bool {
    switch self {
    case .missingFile(let file): file == path + "/LOCK"
    case .poisoned(_, let cause): cause.isOfMovedFolder(path)
    default: false
    }
  }
}
