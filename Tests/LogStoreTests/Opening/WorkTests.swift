import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `Work given to a container` {
  private let folder: TemporaryFolder
  private let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self),
      configurations: [ModelConfiguration(url: folder.url.appending(path: "notes.store"))]
    )
  }

  @Test func `is written in turn, so that nothing that was computed is lost`() async throws {
    try await container.write { NotesV2.insert("0", into: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask { [container] in
          try await container.write { context in
            let note = try #require(try context.fetch(FetchDescriptor<NotesV2.Note>()).first)
            note.message = String(try #require(Int(note.message)) + 1)
          }
        }
      }
      try await group.waitForAll()
    }
    let message = try await container.read { context in
      try context.fetch(FetchDescriptor<NotesV2.Note>()).map(\.message)
    }
    #expect(message == ["100"])
  }

  @Test func `is written in turn whichever container of the stores it is given to`() async throws {
    let containers = try contextsWithoutContainer(4).map(\.container)
    #expect(Set(containers.map(ObjectIdentifier.init)).count == 4)
    try await containers[0].write { NotesV2.insert("0", into: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await containers[number % 4].write { context in
            let note = try #require(try context.fetch(FetchDescriptor<NotesV2.Note>()).first)
            note.count += 1
          }
        }
      }
      try await group.waitForAll()
    }
    let counts = try await containers[1].read { context in
      try context.fetch(FetchDescriptor<NotesV2.Note>()).map(\.count)
    }
    #expect(counts == [200])
  }

  /// Contexts whose container is gone: each makes one of its own when it is asked for it.
  private func contextsWithoutContainer(_ count: Int) throws -> [ModelContext] {
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    return (0..<count).map { _ in ModelContext(container) }
  }

  @Test func `is read as the writes left it that returned before`() async throws {
    for number in 1...20 {
      try await container.write { NotesV2.insert("\(number)", into: $0) }
      let count = try await container.read { try $0.fetchCount(FetchDescriptor<NotesV2.Note>()) }
      #expect(count == number)
    }
  }

  @Test func `is stored wholly or not at all`() async throws {
    struct Refused: Error {}
    await #expect(throws: Refused.self) {
      try await container.write { context in
        NotesV2.insert("never", into: context)
        throw Refused()
      }
    }
    #expect(try await container.read { try $0.fetchCount(FetchDescriptor<NotesV2.Note>()) } == 0)
  }

  @Test func `names its author in the history`() async throws {
    try await container.write(author: "checkout") { NotesV2.insert("one", into: $0) }
    let authors = try await container.read { context in
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author)
    }
    #expect(authors == ["checkout"])
  }

  @Test func `drops what a read changes`() async throws {
    try await container.read { NotesV2.insert("dropped", into: $0) }
    #expect(try await container.read { try $0.fetchCount(FetchDescriptor<NotesV2.Note>()) } == 0)
  }

  @Test func `is refused once the container is closed`() async throws {
    try await container.close()
    await #expect(throws: SwiftDataError.storeClosed) {
      try await container.write { NotesV2.insert("late", into: $0) }
    }
    await #expect(throws: SwiftDataError.storeClosed) {
      try await container.read { try $0.fetchCount(FetchDescriptor<NotesV2.Note>()) }
    }
  }
}
