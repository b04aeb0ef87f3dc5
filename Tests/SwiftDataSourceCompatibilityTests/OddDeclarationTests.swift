import Foundation
import SwiftData
import Testing

// Declarations as published apps have them.

/// For a property wrapper of a user interface, which keeps what has a raw value.
extension Date: @retroactive RawRepresentable {
  public var rawValue: String { String(timeIntervalSinceReferenceDate) }

  public init?(rawValue: String) {
    guard let seconds = Double(rawValue) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

@Model final class Outline {
  var title: String
  var made: Date
  var closed: Date?
  @Relationship(deleteRule: .cascade, inverse: \Outline.parent) var children: [Outline]?
  weak var parent: Outline?

  init(title: String, made: Date, parent: Outline? = nil) {
    self.title = title
    self.made = made
    self.parent = parent
  }
}

@Suite struct `A model with odd declarations` {
  @Test func `stores dates that have a raw value, and weak relationships`() throws {
    let container = try ModelContainer(
      for: Outline.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let day = Date(timeIntervalSinceReferenceDate: 5)
    let root = Outline(title: "root", made: day)
    context.insert(root)
    let leaf = Outline(title: "leaf", made: day + 1, parent: root)
    context.insert(leaf)
    root.children?.append(Outline(title: "twig", made: day + 2))
    leaf.closed = day + 9
    try context.save()
    let other = ModelContext(container)
    let late = FetchDescriptor<Outline>(
      predicate: #Predicate { $0.made > day },
      sortBy: [SortDescriptor(\.made, order: .reverse)]
    )
    let found = try other.fetch(late)
    #expect(found.map(\.title) == ["twig", "leaf"])
    #expect(found.map(\.closed) == [nil, day + 9])
    #expect(found.allSatisfy { $0.parent?.title == "root" })
    #expect(found.first?.parent?.children?.map(\.title) == ["leaf", "twig"])
    found.first?.parent = nil
    found.last?.made += 1
    try other.save()
    let fresh = ModelContext(container)
    let closed = FetchDescriptor<Outline>(predicate: #Predicate { $0.closed != nil })
    #expect(try fresh.fetch(closed).map(\.made) == [day + 2])
    #expect(try fresh.fetch(closed).first?.parent?.children?.map(\.title) == ["leaf"])
  }
}
