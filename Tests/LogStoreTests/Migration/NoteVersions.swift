import Foundation
import LogStore
import SwiftData

// Notes whose text is renamed in the second version, which a custom stage completes, and which has a neighbour of the
// same number and another shape.

enum NotesV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var note: String
    var count: Int
    init(_ note: String, count: Int) {
      self.note = note
      self.count = count
    }
  }
}

enum NotesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    @Attribute(originalName: "note") var message: String
    var count: Int
    var severity: Int = 0
    var tags: [String] = []
    init(_ message: String, count: Int) {
      self.message = message
      self.count = count
    }
  }
}

/// Of the number of the second version, and of another shape.
enum NotesV2Beside: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    @Attribute(originalName: "note") var message: String
    var count: Int
    var severity: Int = 0
    var tags: [String] = []
    var color: String?
    init(_ message: String, count: Int) {
      self.message = message
      self.count = count
    }
  }
}

enum NotesV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    @Attribute(originalName: "note") var message: String
    var count: Int
    var severity: Int = 0
    var tags: [String] = []
    var isPinned: Bool = false
    init(_ message: String, count: Int) {
      self.message = message
      self.count = count
    }
  }
}

enum NotesPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self, NotesV3.self] }
  static var stages: [MigrationStage] { [v1ToV2, v2ToV3] }

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: NotesV1.self,
    toVersion: NotesV2.self,
    willMigrate: nil,
    didMigrate: { context in
      for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) {
        note.severity = note.count * 10
      }
    }
  )

  static let v2ToV3 = MigrationStage.lightweight(
    fromVersion: NotesV2.self,
    toVersion: NotesV3.self
  )
}

/// A note as the tests compare it, whatever its version.
struct NoteFacts: Hashable {
  var message: String
  var count: Int
  var severity: Int
  var tags: [String]
}

/// What the tests do with notes of any version.
protocol NoteVersion: VersionedSchema {
  static func facts(_ context: ModelContext) throws -> Set<NoteFacts>
  static func insert(_ message: String, into context: ModelContext)
  /// Changes the note of a message.
  static func count(_ message: String, _ count: Int, in context: ModelContext) throws
}

extension NotesV1: NoteVersion {
  static func facts(_ context: ModelContext) throws -> Set<NoteFacts> {
    Set(
      try context.fetch(FetchDescriptor<Note>()).map {
        NoteFacts(message: $0.note, count: $0.count, severity: 0, tags: [])
      }
    )
  }
  static func insert(_ message: String, into context: ModelContext) {
    context.insert(Note(message, count: 0))
  }
  static func count(_ message: String, _ count: Int, in context: ModelContext) throws {
    let found = FetchDescriptor<Note>(predicate: #Predicate { $0.note == message })
    try context.fetch(found).first?.count = count
  }
}

extension NotesV2: NoteVersion {
  static func facts(_ context: ModelContext) throws -> Set<NoteFacts> {
    Set(
      try context.fetch(FetchDescriptor<Note>()).map {
        NoteFacts(message: $0.message, count: $0.count, severity: $0.severity, tags: $0.tags)
      }
    )
  }
  static func insert(_ message: String, into context: ModelContext) {
    context.insert(Note(message, count: 0))
  }
  static func count(_ message: String, _ count: Int, in context: ModelContext) throws {
    let found = FetchDescriptor<Note>(predicate: #Predicate { $0.message == message })
    try context.fetch(found).first?.count = count
  }
}

extension NotesV2Beside: NoteVersion {
  static func facts(_ context: ModelContext) throws -> Set<NoteFacts> {
    Set(
      try context.fetch(FetchDescriptor<Note>()).map {
        NoteFacts(message: $0.message, count: $0.count, severity: $0.severity, tags: $0.tags)
      }
    )
  }
  static func insert(_ message: String, into context: ModelContext) {
    context.insert(Note(message, count: 0))
  }
  static func count(_ message: String, _ count: Int, in context: ModelContext) throws {
    let found = FetchDescriptor<Note>(predicate: #Predicate { $0.message == message })
    try context.fetch(found).first?.count = count
  }
}

extension NotesV3: NoteVersion {
  static func facts(_ context: ModelContext) throws -> Set<NoteFacts> {
    Set(
      try context.fetch(FetchDescriptor<Note>()).map {
        NoteFacts(message: $0.message, count: $0.count, severity: $0.severity, tags: $0.tags)
      }
    )
  }
  static func insert(_ message: String, into context: ModelContext) {
    context.insert(Note(message, count: 0))
  }
  static func count(_ message: String, _ count: Int, in context: ModelContext) throws {
    let found = FetchDescriptor<Note>(predicate: #Predicate { $0.message == message })
    try context.fetch(found).first?.count = count
  }
}
