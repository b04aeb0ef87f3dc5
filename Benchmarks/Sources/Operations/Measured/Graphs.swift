import Foundation
import SwiftData

/// A parent whose children go with it.
@Model
final class Folder {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Sheet.folder) var sheets: [Sheet] = []

  init(_ name: String) { self.name = name }
}

@Model
final class Sheet {
  var number: Int
  var folder: Folder?

  init(_ number: Int) { self.number = number }
}

/// A parent whose children stay.
@Model
final class Crew {
  var name: String
  @Relationship(inverse: \Sailor.crew) var sailors: [Sailor] = []

  init(_ name: String) { self.name = name }
}

@Model
final class Sailor {
  #Index<Sailor>([\.number])

  @Attribute(.unique) var name: String
  var number: Int
  var crew: Crew?

  init(_ number: Int) {
    name = "sailor \(number)"
    self.number = number
  }
}

/// Saved parents with a thousand children each, worked on by a new context each time.
private final class Families {
  private let container: ModelContainer
  private var parents: [PersistentIdentifier] = []

  init() throws {
    container = try ModelContainer(
      for: Schema([Folder.self, Sheet.self, Crew.self, Sailor.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  /// One for each time that the work is done: twice to warm up, and to count allocations, and once to count instructions.
  private static let parentCount = 3

  func makeFolders() throws {
    let context = ModelContext(container)
    let folders = (0..<Self.parentCount).map { Folder("folder \($0)") }
    for folder in folders {
      context.insert(folder)
      folder.sheets = (0..<1000).map(Sheet.init)
    }
    try context.save()
    parents = folders.map(\.persistentModelID)
  }

  func makeCrews() throws {
    let context = ModelContext(container)
    let crews = (0..<Self.parentCount).map { Crew("crew \($0)") }
    for (place, crew) in crews.enumerated() {
      context.insert(crew)
      crew.sailors = (0..<1000).map { Sailor(place * 1000 + $0) }
    }
    try context.save()
    parents = crews.map(\.persistentModelID)
  }

  func deleteNextFolder() throws {
    let context = ModelContext(container)
    guard let folder = context.model(for: parents.removeFirst()) as? Folder else { return }
    context.delete(folder)
    try context.save()
  }

  func deleteNextCrew() throws {
    let context = ModelContext(container)
    guard let crew = context.model(for: parents.removeFirst()) as? Crew else { return }
    context.delete(crew)
    try context.save()
  }

  func moveNextCrew() throws {
    let context = ModelContext(container)
    guard let crew = context.model(for: parents.removeFirst()) as? Crew else { return }
    let other = Crew("others")
    context.insert(other)
    for sailor in crew.sailors { sailor.crew = other }
    try context.save()
  }

  func emptyNextCrew() throws {
    let context = ModelContext(container)
    guard let crew = context.model(for: parents.removeFirst()) as? Crew else { return }
    crew.sailors = []
    try context.save()
  }

  private var next = 0

  /// Looks sailors up by their names, and makes those that are missing: every second one is there already.
  func findOrCreate(_ count: Int) throws {
    let context = ModelContext(container)
    for number in next..<(next + count) {
      let name = "sailor \(number / 2)"
      var wanted = FetchDescriptor<Sailor>(predicate: #Predicate { $0.name == name })
      wanted.fetchLimit = 1
      if try context.fetch(wanted).isEmpty { context.insert(Sailor(number / 2)) }
    }
    next += count
    try context.save()
  }
}

extension Operation {
  /// Changes of many related models; an operation is what one child costs.
  static var graphs: [Operation] {
    [
      Operation("delete a parent of a thousand, cascade") {
        let families = try Families()
        try families.makeFolders()
        return { _ in try families.deleteNextFolder() }
      },
      Operation("delete a parent of a thousand, nullify") {
        let families = try Families()
        try families.makeCrews()
        return { _ in try families.deleteNextCrew() }
      },
      Operation("move a thousand to another parent") {
        let families = try Families()
        try families.makeCrews()
        return { _ in try families.moveNextCrew() }
      },
      Operation("take a thousand out of a list") {
        let families = try Families()
        try families.makeCrews()
        return { _ in try families.emptyNextCrew() }
      },
      Operation("find or create by a unique name") {
        let families = try Families()
        return { count in try families.findOrCreate(count) }
      },
    ]
  }
}
