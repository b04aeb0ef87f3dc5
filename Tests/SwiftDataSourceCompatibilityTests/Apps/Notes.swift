import Foundation
import SwiftData

// A notes app: folders in folders, tags shared by notes, attachments beside the text.

@Model
public final class NoteFolder {
  public var name: String = "New Folder"
  public var createdAt: Date = Date.now
  public var sortOrder: Int = 0

  @Relationship(deleteRule: .cascade, inverse: \NoteFolder.parent)
  public var children: [NoteFolder]? = []
  public var parent: NoteFolder?

  @Relationship(deleteRule: .cascade, inverse: \Note.folder)
  public var notes: [Note]? = []

  public init(name: String, parent: NoteFolder? = nil) {
    self.name = name
    self.parent = parent
  }

  public var path: String {
    var names = [name]
    var folder = parent
    while let next = folder {
      names.insert(next.name, at: 0)
      folder = next.parent
    }
    return names.joined(separator: "/")
  }
}

@Model
public final class Note {
  public internal(set) var uuid: UUID = UUID()
  public var title: String = ""
  public var body: String = ""
  public var createdAt = Date()
  public var modifiedAt = Date()
  public var isPinned: Bool = false
  public var deletedAt: Date?
  private var colorHex: String?

  public var folder: NoteFolder?

  @Relationship(inverse: \NoteTag.notes)
  public var tags: [NoteTag]?

  @Relationship(deleteRule: .cascade, inverse: \NoteAttachment.note)
  public var attachments: [NoteAttachment]? = [NoteAttachment]()

  public init(title: String = "", body: String = "", folder: NoteFolder? = nil) {
    self.title = title
    self.body = body
    self.folder = folder
  }

  convenience init(imported text: String) {
    let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
    self.init(title: lines.first ?? "", body: lines.count > 1 ? lines[1] : "")
  }

  public enum Color: String, CaseIterable {
    case yellow = "#FFCC00"
    case blue = "#0000FF"
  }

  public var color: Color? {
    get { colorHex.flatMap(Color.init(rawValue:)) }
    set { colorHex = newValue?.rawValue }
  }

  public var wordCount: Int {
    body.split(whereSeparator: \.isWhitespace).count
  }

  public func touch(at date: Date = .now) { modifiedAt = date }
}

@Model
public final class NoteTag {
  @Attribute(.unique) public var name: String
  public var notes: [Note]?

  public init(name: String) {
    self.name = name
  }
}

@Model
public final class NoteAttachment {
  public var fileName: String
  @Attribute(.externalStorage, originalName: "blob")
  public var data: Data?
  public var note: Note?

  public init(fileName: String, data: Data?) {
    self.fileName = fileName
    self.data = data
  }
}

extension Note {
  public static var visible: Predicate<Note> {
    #Predicate<Note> { $0.deletedAt == nil }
  }

  static func tagged(_ name: String) -> Predicate<Note> {
    #Predicate<Note> { note in
      note.tags?.contains { $0.name == name } ?? false
    }
  }

  static func matching(_ text: String) -> Predicate<Note> {
    #Predicate<Note> { note in
      note.title.localizedStandardContains(text) || note.body.localizedStandardContains(text)
    }
  }
}

@MainActor
final class NoteStore {
  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init(container: ModelContainer) {
    self.container = container
  }

  func createNote(title: String, in folder: NoteFolder?, tags: [String] = []) throws -> Note {
    let note = Note(title: title, folder: folder)
    context.insert(note)
    note.tags = try tags.map(tag(named:))
    try context.save()
    return note
  }

  func tag(named name: String) throws -> NoteTag {
    var descriptor = FetchDescriptor<NoteTag>(predicate: #Predicate { $0.name == name })
    descriptor.fetchLimit = 1
    if let existing = try context.fetch(descriptor).first { return existing }
    let tag = NoteTag(name: name)
    context.insert(tag)
    return tag
  }

  func pinned() throws -> [Note] {
    try context.fetch(
      FetchDescriptor(
        predicate: #Predicate<Note> { $0.isPinned && $0.deletedAt == nil },
        sortBy: [SortDescriptor(\Note.modifiedAt, order: .reverse)]
      )
    )
  }

  func emptyTrash() throws {
    try context.delete(model: Note.self, where: #Predicate { $0.deletedAt != nil })
    try context.save()
  }
}
