import Foundation
import LogEngine
import LogStore
import SwiftData
import Testing

@Suite struct `A container that is closed` {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "notes.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ kind: `A file that a process opens again`.Kind = .log
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self),
      configurations: [`A file that a process opens again`.configuration(kind, url)]
    )
  }

  @MainActor @Test func `has saved what its main context was about to save`() async throws {
    for count in 1...20 {
      let container = try open()
      NotesV2.insert("note \(count)", into: container.mainContext)
      try await container.close()
      let reopened = try open()
      #expect(try ModelContext(reopened).fetchCount(FetchDescriptor<NotesV2.Note>()) == count)
      try await reopened.close()
    }
  }

  @Test func `has saved it, too, if the main actor is at other work`() async throws {
    for count in 1...20 {
      let container = try open()
      await MainActor.run { NotesV2.insert("note \(count)", into: container.mainContext) }
      try await container.close()
      let reopened = try open()
      #expect(try ModelContext(reopened).fetchCount(FetchDescriptor<NotesV2.Note>()) == count)
      try await reopened.close()
    }
  }

  @MainActor @Test func `leaves unsaved what its main context does not save by itself`()
    async throws
  {
    let container = try open()
    container.mainContext.autosaveEnabled = false
    NotesV2.insert("kept to itself", into: container.mainContext)
    try await container.close()
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<NotesV2.Note>()) == 0)
  }

  @Test func `leaves its models what they had read, also after a rollback`() async throws {
    let container = try open()
    let first = ModelContext(container)
    for number in 1...3 { NotesV2.insert("\(number)", into: first) }
    try first.save()
    let context = ModelContext(container)
    let notes = try context.fetch(FetchDescriptor<NotesV2.Note>(sortBy: [.init(\.message)]))
    #expect(notes.map(\.message) == ["1", "2", "3"])
    notes[0].message = "changed"
    context.delete(notes[1])
    try await container.close()
    context.rollback()
    #expect(notes.map(\.message) == ["1", "2", "3"])
    #expect(!context.hasChanges)
    #expect(throws: SwiftDataError.storeClosed) { try context.save() }
  }

  @Test(arguments: `A file that a process opens again`.Kind.allCases)
  func `gives back its files, and its contexts throw`(
    kind: `A file that a process opens again`.Kind
  ) async throws {
    let container = try open(kind)
    let context = ModelContext(container)
    NotesV2.insert("saved", into: context)
    try context.save()
    let note = try #require(try context.fetch(FetchDescriptor<NotesV2.Note>()).first)
    try await container.close()
    // As another process would open it.
    let engine = try StorageEngine.open(at: url.path)
    #expect(engine.recovery.wasClosedCleanly)
    try engine.close()

    #expect(note.message == "saved")
    #expect(throws: SwiftDataError.storeClosed) { try context.save() }
    #expect(throws: SwiftDataError.storeClosed) {
      try context.fetch(FetchDescriptor<NotesV2.Note>())
    }
    #expect(throws: SwiftDataError.storeClosed) {
      try context.fetchCount(FetchDescriptor<NotesV2.Note>())
    }
    #expect(throws: SwiftDataError.storeClosed) {
      try context.fetchIdentifiers(FetchDescriptor<NotesV2.Note>())
    }
    #expect(throws: SwiftDataError.storeClosed) {
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    #expect(throws: SwiftDataError.storeClosed) { try container.erase() }
    let late = ModelContext(container)
    NotesV2.insert("late", into: late)
    #expect(throws: SwiftDataError.storeClosed) { try late.save() }
    // A second call does nothing.
    try await container.close()

    let again = ModelContext(try open(kind))
    #expect(try again.fetchCount(FetchDescriptor<NotesV2.Note>()) == 1)
  }

  @Test func `leaves the file to another container that has it, too`() async throws {
    let first = try open()
    let second = try open()
    try await first.close()
    #expect(throws: SwiftDataError.storeClosed) { try ModelContext(first).save() }
    let context = ModelContext(second)
    NotesV2.insert("second", into: context)
    try context.save()
    #expect(throws: StorageError.self) { try StorageEngine.open(at: url.path) }
    try await second.close()
    try StorageEngine.open(at: url.path).close()
  }

  @Test func `is closed once, by the first caller`() async throws {
    let container = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { try await container.close() } }
      try await group.waitForAll()
    }
    try StorageEngine.open(at: url.path).close()
  }

  @Test(arguments: 0..<12)
  func `says so after all the saves it was in the middle of`(_: Int) async throws {
    let container = try open()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<4 {
        group.addTask {
          let context = ModelContext(container)
          for number in 0..<1000 {
            NotesV2.insert("\(task) \(number)", into: context)
            do {
              try context.save()
            } catch SwiftDataError.storeClosed {
              return number
            }
          }
          return 1000
        }
      }
      try await container.close()
      var saved = 0
      for try await count in group { saved += count }
      let again = ModelContext(try open())
      let found = try again.fetchCount(FetchDescriptor<NotesV2.Note>())
      #expect(found == saved, "\(saved) saves returned, \(found) are stored")
    }
  }

  @Test func `that is in memory is closed, too`() async throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    try await container.close()
    #expect(throws: SwiftDataError.storeClosed) {
      try ModelContext(container).fetchCount(FetchDescriptor<NotesV2.Note>())
    }
  }
}
