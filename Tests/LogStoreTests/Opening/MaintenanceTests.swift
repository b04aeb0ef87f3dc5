import Foundation
import LogEngine
import LogStore
import LogTools
import SwiftData
import Testing

@Suite struct `A store that an app looks after itself` {
  @Test func `is copied while it is saved to, and the copy opens`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "notes.store")
    let copy = folder.url.appending(path: "copy.store")
    func open(_ url: URL) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema([NotesV2.Note.self]),
          configurations: [LogStoreConfiguration(url: url)]
        )
      )
    }
    let context = try open(url)
    for number in 0..<100 { NotesV2.insert("\(number)", into: context) }
    try context.save()
    let store = try #require(context.container.stores(of: LogStore.self).first)
    try store.backup(to: copy)
    NotesV2.insert("later", into: context)
    try context.save()
    #expect(throws: LogStoreError.self) { try store.backup(to: copy) }
    #expect(try open(copy).fetchCount(FetchDescriptor<NotesV2.Note>()) == 100)
    #expect(try context.fetchCount(FetchDescriptor<NotesV2.Note>()) == 101)
  }

  @Test func `is verified, and says what is damaged`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "notes.store")
    let container = try ModelContainer(
      for: Schema([NotesV2.Note.self]),
      configurations: [LogStoreConfiguration(url: url)]
    )
    let context = ModelContext(container)
    for number in 0..<100 { NotesV2.insert("\(number)", into: context) }
    try context.save()
    let store = try #require(container.stores(of: LogStore.self).first)
    let sound = try store.verify()
    #expect(sound.isSound && sound.rowCount == 100)

    let segment = url.appending(path: "log/0000000000000001.seg")
    let file = try FileHandle(forUpdating: segment)
    try file.seek(toOffset: 4100)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 64))
    try file.close()
    #expect(try !store.verify().isSound)
  }

  /// Where the store of a `ModelConfiguration` is.
  enum Place: CaseIterable { case onDisk, inMemory }

  @Test(arguments: Place.allCases)
  func `is a LogStore to whoever asks for one, although a ModelConfiguration opened it`(
    place: Place
  ) async throws {
    let folder = try TemporaryFolder()
    let configuration =
      switch place {
      case .onDisk: ModelConfiguration(url: folder.url.appending(path: "notes.store"))
      case .inMemory: ModelConfiguration(isStoredInMemoryOnly: true)
      }
    let container = try ModelContainer(
      for: Schema([NotesV2.Note.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    for number in 0..<100 { NotesV2.insert("\(number)", into: context) }
    try context.save()

    #expect(container.stores(of: DefaultStore.self).count == 1)
    let stores = container.stores(of: LogStore.self)
    #expect(stores.count == 1)
    let store = try #require(stores.first)
    #expect(store.identifier == container.stores(of: DefaultStore.self).first?.identifier)
    #expect(store.configuration.name == configuration.name)
    #expect(store.statistics().tables.first { $0.name == "Note" }?.rowCount == 100)
    #expect(try store.spaceUsage().byteCount > 0)
    #expect(try store.verify().isSound)
    #expect(try await store.expire() == [])
    try store.compact()

    let copy = folder.url.appending(path: "copy.store")
    switch place {
    case .onDisk:
      try store.backup(to: copy)
      #expect(FileManager.default.fileExists(atPath: copy.path))
    case .inMemory:
      #expect(throws: LogStoreError.self) { try store.backup(to: copy) }
    }
    try await container.close()
    #expect(throws: SwiftDataError.self) { try store.verify() }
  }
}
