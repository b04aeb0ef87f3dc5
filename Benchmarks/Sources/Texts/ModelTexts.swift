import Foundation
import Harness
import SwiftData

/// A short text.
@Model
final class Note {
  #Index<Note>([\.body])
  var body: String

  init(_ body: String) { self.body = body }
}

/// A long text.
@Model
final class Document {
  #Index<Document>([\.body])
  var body: String

  init(_ body: String) { self.body = body }
}

/// Notes and documents as models in a LogStore.
final class ModelTexts: TextStore {
  let contender = Contender.models
  let settings = "a new ModelContext on LogStore, #Index on the text"
  private let container: ModelContainer

  init(_ folder: URL) throws {
    let schema = Schema([Note.self, Document.self])
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.schema = schema
    container = try ModelContainer(for: schema, configurations: [configuration])
  }

  func addNotes(_ texts: [String]) throws {
    for start in stride(from: 0, to: texts.count, by: 10_000) {
      let context = ModelContext(container)
      for text in texts[start..<min(start + 10_000, texts.count)] { context.insert(Note(text)) }
      try context.save()
    }
  }

  func addDocuments(_ texts: [String]) throws {
    for start in stride(from: 0, to: texts.count, by: 100) {
      let context = ModelContext(container)
      for text in texts[start..<min(start + 100, texts.count)] { context.insert(Document(text)) }
      try context.save()
    }
  }

  func searchNotes(_ words: [String]) throws -> Int {
    var descriptor = FetchDescriptor<Note>()
    descriptor.fetchLimit = 10
    return try ModelContext(container)
      .search(descriptor, for: TextQuery(words.joined(separator: " ")), in: \.body).count
  }

  func searchDocuments(_ words: [String]) throws -> Int {
    var descriptor = FetchDescriptor<Document>()
    descriptor.fetchLimit = 10
    return try ModelContext(container)
      .search(descriptor, for: TextQuery(words.joined(separator: " ")), in: \.body).count
  }

  func countNotes(containing text: String) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<Note>(predicate: #Predicate { $0.body.localizedStandardContains(text) })
    )
  }

  func countDocuments(containing text: String) throws -> Int {
    try ModelContext(container).fetchCount(
      FetchDescriptor<Document>(predicate: #Predicate { $0.body.localizedStandardContains(text) })
    )
  }
}
