import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// A process that the system tells of no changes: there may be too many that it tells already.
@Suite struct `A process that is not told of changes` {
  @Test func `follows all the same, and keeps nobody from compacting`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "unheard-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .memory
    let writer = try StorageEngine.open(at: folder.path, options: options)
    try writer.apply(MemoryStore.tableChanges)
    let reader = try StorageEngine.open(
      at: folder.path,
      options: options,
      fileSystem: HookedFileSystem(PosixFileSystem()) { _ in }
    )
    let news = News()
    reader.onNews { news.count.add(1, ordering: .releasing) }
    let membership = try #require(writer.writer?.turns?.membership)
    for round in 1...3 {
      let before = news.count.load(ordering: .acquiring)
      var batch = writer.makeBatch()
      batch.insert(
        RowReference(table: 1, key: try writer.takeKeys(1, in: 1).lowerBound),
        layout: LayoutNumber(1),
        row: MemoryStore.row(1, "x").span.bytes
      )
      let sequence = try writer.commit(&batch)
      let deadline = ContinuousClock.now + .seconds(120)
      func hasFollowed() throws -> Bool {
        try news.count.load(ordering: .acquiring) > before
          && membership.members.lowestBound(but: membership.number) == sequence.rawValue
      }
      while try !hasFollowed() {
        try #require(ContinuousClock.now < deadline)
        Thread.yield()
      }
      #expect(reader.rowCount(of: 1) == round)
    }
    try reader.close()
    try writer.close()
  }

  private final class News: Sendable {
    let count = Atomic<Int>(0)
  }
}
