import Foundation
import SwiftData
import Testing

// The snippets of the article Getting started, as they are printed there; Tools/docs compares them.

@Model
final class Note {
  var text: String
  var isDone = false
  var due: Date?
  @Relationship(inverse: \Tag.notes) var tags: [Tag] = []

  init(_ text: String, due: Date? = nil) {
    self.text = text
    self.due = due
  }
}

@Model
final class Tag {
  @Attribute(.unique) var name: String
  var notes: [Note] = []

  init(_ name: String) { self.name = name }
}

/// Does what the arguments say, and returns what is to be printed.
func run(_ arguments: [String], in container: ModelContainer) throws -> [String] {
  let context = ModelContext(container)
  switch arguments.first {
  case "add":
    let note = Note(arguments.dropFirst().joined(separator: " "))
    context.insert(note)
    try context.save()
    return ["added \(note.text)"]
  case "done":
    let text = arguments.dropFirst().joined(separator: " ")
    for note in try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.text == text }))
    {
      note.isDone = true
    }
    try context.save()
    return []
  default:
    let open = FetchDescriptor<Note>(
      predicate: #Predicate { !$0.isDone },
      sortBy: [SortDescriptor(\.text)]
    )
    return try context.fetch(open).map(\.text)
  }
}

/// What `main.swift` holds: it opens the user's own store, so no test runs it.
func program() throws {
  let container = try ModelContainer(for: Note.self)
  for line in try run(Array(CommandLine.arguments.dropFirst()), in: container) {
    print(line)
  }
}

struct NoteService: Sendable {
  let container: ModelContainer

  func create(_ text: String) throws -> String {
    let context = ModelContext(container)
    let note = Note(text)
    context.insert(note)
    try context.save()
    return note.persistentModelID.urlComponent  // Short and stable: "Note.p12.2E7C…".
  }

  func text(of component: String) throws -> String? {
    guard let id = PersistentIdentifier(urlComponent: component) else { return nil }
    let context = ModelContext(container)
    guard let note = context.model(for: id) as? Note, !note.isDeleted else { return nil }
    return note.text
  }
}

@Test func `a note that is done is not listed`() throws {
  let container = try ModelContainer(
    for: Note.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true)
  )
  _ = try run(["add", "water", "the", "plants"], in: container)
  _ = try run(["add", "read"], in: container)
  _ = try run(["done", "read"], in: container)
  #expect(try run([], in: container) == ["water the plants"])
}

@Suite struct `The service of Getting started` {
  @Test func `finds a note by its address, also after the store was opened again`() async throws {
    let folder = try TestFolder()
    let place = LogStoreConfiguration(url: folder.url.appending(path: "notes.store"))
    let container = try ModelContainer(for: Note.self, configurations: place)
    let address = try NoteService(container: container).create("water the plants")
    try await container.close()

    let again = NoteService(
      container: try ModelContainer(for: Note.self, configurations: place)
    )
    #expect(try again.text(of: address) == "water the plants")
    #expect(try again.text(of: "nonsense") == nil)
  }

  @Test func `knows nothing of a note that was deleted`() throws {
    let container = try ModelContainer(
      for: Note.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let service = NoteService(container: container)
    let address = try service.create("water the plants")
    let context = ModelContext(container)
    try context.delete(model: Note.self)
    try context.save()
    #expect(try service.text(of: address) == nil)
  }
}
