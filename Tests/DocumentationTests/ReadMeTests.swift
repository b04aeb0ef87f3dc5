import JSONStore
import SwiftData
import Testing

// The snippets of README.md and of the module's first page, as they are printed there.

enum ReadMe {
  @Model
  final class Note {
    var text: String
    var stars: Int

    init(text: String, stars: Int = 0) {
      self.text = text
      self.stars = stars
    }
  }

  /// The program, which opens the user's own store: `Tools/test --consumer` builds and runs it.
  static func program() throws {
    let container = try ModelContainer(for: Note.self)
    let context = ModelContext(container)
    context.insert(Note(text: "Bring a log", stars: 3))
    try context.save()

    let starred = FetchDescriptor<Note>(predicate: #Predicate { $0.stars > 2 })
    for note in try context.fetch(starred) { print(note.text, note.stars) }
  }

  static func stores(_ url: URL, _ file: URL, _ models: Schema) throws -> [ModelContainer] {
    let stores: [any DataStoreConfiguration] = [
      ModelConfiguration(),  // ~/.local/share/Notes/default.store
      LogStoreConfiguration(url: url, durability: .relaxed),
      ModelConfiguration(isStoredInMemoryOnly: true),  // for tests
      JSONStoreConfiguration(name: "notes", url: file),  // import JSONStore
    ]
    return try stores.dropFirst().map { try ModelContainer(for: models, configurations: [$0]) }
  }
}

@Suite struct `The README` {
  @Test func `changes stores by one line`() throws {
    let folder = try TestFolder()
    let containers = try ReadMe.stores(
      folder.url.appending(path: "notes.store"),
      folder.url.appending(path: "notes.json"),
      Schema([ReadMe.Note.self])
    )
    for container in containers {
      let context = ModelContext(container)
      context.insert(ReadMe.Note(text: "Bring a log", stars: 3))
      try context.save()
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<ReadMe.Note>()) == 1)
    }
    #expect(containers.count == 3)
  }

  /// Of `ModelContainer(for:)` only the place is another: a test leaves the user's own store alone.
  @Test func `observes the store that its program opens`() throws {
    let folder = try TestFolder()
    let container = try ModelContainer(
      for: ReadMe.Note.self,
      configurations: ModelConfiguration(url: folder.url.appending(path: "default.store"))
    )
    let context = ModelContext(container)
    context.insert(ReadMe.Note(text: "Bring a log", stars: 3))
    try context.save()
    let statistics = container.stores(of: LogStore.self).first?.statistics()
    #expect(statistics?.tables.first { $0.name == "Note" }?.rowCount == 1)
  }
}
