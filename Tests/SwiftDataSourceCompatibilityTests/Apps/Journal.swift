import Foundation
import SwiftData

// A diary whose schema has versions, named through type aliases as apps do.

typealias JournalEntry = JournalSchemaV2.JournalEntry
typealias Mood = JournalSchemaV2.Mood

enum JournalSchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [JournalEntry.self] }

  @Model
  final class JournalEntry {
    var body: String = ""
    var date: Date = Date.now

    init(body: String) { self.body = body }
  }
}

enum JournalSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [JournalEntry.self, Mood.self] }

  @Model
  final class JournalEntry {
    @Attribute(originalName: "body") var text: String = ""
    var date: Date = Date.now
    var isPinned: Bool = false
    @Relationship(deleteRule: .nullify) var mood: Mood?
    private var wordCountCache: Int?

    init(text: String, date: Date = .now, mood: Mood? = nil) {
      self.text = text
      self.date = date
      self.mood = mood
    }
  }

  @Model
  final class Mood {
    var name: String
    @Relationship(inverse: \JournalEntry.mood) var entries: [JournalEntry]?

    init(name: String) { self.name = name }
  }
}

enum JournalMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [JournalSchemaV1.self, JournalSchemaV2.self] }
  static var stages: [MigrationStage] { [renameBody] }

  static let renameBody = MigrationStage.lightweight(
    fromVersion: JournalSchemaV1.self,
    toVersion: JournalSchemaV2.self
  )
}

extension JournalEntry {
  var wordCount: Int {
    if let wordCountCache { return wordCountCache }
    let count = text.split(whereSeparator: \.isWhitespace).count
    wordCountCache = count
    return count
  }

  static func on(_ day: DateInterval) -> FetchDescriptor<JournalEntry> {
    let start = day.start
    let end = day.end
    return FetchDescriptor(
      predicate: #Predicate { $0.date >= start && $0.date < end },
      sortBy: [SortDescriptor(\.date)]
    )
  }

  static func feeling(_ mood: Mood) -> Predicate<JournalEntry> {
    let id = mood.persistentModelID
    return #Predicate { $0.mood?.persistentModelID == id }
  }

  static let pinned = #Predicate<JournalEntry> { $0.isPinned }
}
