import Foundation
import SwiftData
import Testing

@Model private final class Folder {
  var serial: Int
  @Attribute(.unique) var name: String?
  @Relationship(inverse: \Folder.folders) var parent: Folder?
  var folders: [Folder] = []
  var next: Folder?

  init(_ serial: Int, _ name: String?) {
    self.serial = serial
    self.name = name
  }
}

@Suite struct `New models of a tree that have each other's unique values` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Folder.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.autosaveEnabled = false
  }

  /// One way in which four folders, two of one name and two of another, refer to each other.
  private enum Shape: CaseIterable {
    case parentsOfBoth
    case parentsOfBothAndNext
    case parentOfTheFirst
    case parentOfTheSecond
    case nextOnly
    case swapped

    func apply(to folders: [Folder]) {
      let (a, b, c, d) = (folders[0], folders[1], folders[2], folders[3])
      switch self {
      case .parentsOfBoth:
        b.parent = a
        d.parent = b
      case .parentsOfBothAndNext:
        b.parent = a
        b.next = a
        c.parent = b
        d.parent = b
      case .parentOfTheFirst:
        b.parent = a
        c.parent = b
      case .parentOfTheSecond:
        c.parent = b
        d.parent = b
      case .nextOnly:
        b.next = a
        d.next = b
      case .swapped:
        a.parent = d
        b.parent = c
        d.parent = a
      }
    }
  }

  private func expectStored() throws {
    #expect(!context.hasChanges)
    #expect(context.changedModelsArray.isEmpty)
    #expect(context.insertedModelsArray.isEmpty)
    let other = ModelContext(container)
    let isTop = #Predicate<Folder> { $0.parent == nil }
    let isEmpty = #Predicate<Folder> { $0.folders.isEmpty }
    let isLast = #Predicate<Folder> { $0.next == nil }
    let leadsElsewhere = #Predicate<Folder> { $0.next?.serial != 5 }
    let predicates: [Predicate<Folder>?] = [nil, isTop, isEmpty, isLast, leadsElsewhere]
    for predicate in predicates {
      let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.serial)])
      let found = try context.fetch(descriptor)
      #expect(found.allSatisfy { $0.modelContext === context })
      #expect(try found.map(\.serial) == other.fetch(descriptor).map(\.serial))
      #expect(try context.fetchCount(descriptor) == found.count)
    }
    for folder in try other.fetch(FetchDescriptor<Folder>()) {
      if let parent = folder.parent { #expect(parent.folders.contains { $0 === folder }) }
      #expect(folder.folders.allSatisfy { $0.parent === folder })
    }
  }

  @Test(arguments: Shape.allCases, [0, 80])
  private func `are saved as one each, and none stays behind`(shape: Shape, others: Int) throws {
    for number in 0..<others { context.insert(Folder(100 + number, nil)) }
    let folders = ["a", "b", "a", "b"].enumerated().map { Folder($0.offset + 1, $0.element) }
    for folder in folders { context.insert(folder) }
    shape.apply(to: folders)
    try context.save()
    try expectStored()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == others + 2)
  }

  @Test(arguments: Shape.allCases)
  private func `take the place of stored ones, and none stays behind`(shape: Shape) throws {
    let stored = ["a", "b"].enumerated().map { Folder($0.offset + 10, $0.element) }
    for folder in stored { context.insert(folder) }
    stored[1].parent = stored[0]
    try context.save()
    let folders = ["a", "b", "a", "b"].enumerated().map { Folder($0.offset + 1, $0.element) }
    for folder in folders { context.insert(folder) }
    shape.apply(to: folders)
    try context.save()
    try expectStored()
    #expect(try context.fetch(FetchDescriptor<Folder>()).map(\.serial).sorted() == [3, 4])
  }
}
