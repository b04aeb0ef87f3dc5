import Foundation
import SwiftData
import Testing

@Suite struct `Sections of results` {
  let context: ModelContext

  init() throws { context = ModelContext(try makeShelves()) }

  private func observer(
    sortBy: [SortDescriptor<Volume>] = [SortDescriptor(\.genre), SortDescriptor(\.title)]
  ) throws -> ResultsObserver<Volume, String> {
    try ResultsObserver(sortBy: sortBy, sectionBy: \.genre, modelContext: context)
  }

  @discardableResult
  private func add(_ title: String, _ genre: String?) -> Volume {
    let volume = Volume(title, genre: genre)
    context.insert(volume)
    return volume
  }

  @Test func `appear, grow, shrink and vanish with their models`() throws {
    let observer = try observer()
    #expect(observer.outline == "")
    let b = add("b", "poetry")
    add("a", "travel")
    #expect(observer.outline == "poetry:b travel:a")
    let c = add("c", "fiction")
    #expect(observer.outline == "fiction:c poetry:b travel:a")
    b.genre = "travel"
    #expect(observer.outline == "fiction:c travel:ab")
    try context.save()
    context.delete(c)
    #expect(observer.outline == "travel:ab")
    context.rollback()
    #expect(observer.outline == "fiction:c travel:ab")
  }

  @Test func `hold what has no title under the empty one`() throws {
    add("a", nil)
    add("b", "travel")
    #expect(try observer().outline == ":a travel:b")
  }

  @Test func `have one title each, wherever its models are`() throws {
    add("a", "travel")
    add("b", "poetry")
    let c = add("c", "travel")
    let observer = try observer(sortBy: [SortDescriptor(\.title)])
    #expect(observer.outline == "travel:ac poetry:b")
    #expect(observer.results.map(\.title) == ["a", "b", "c"])
    c.title = "0"
    #expect(observer.outline == "travel:0a poetry:b")
    context.delete(c)
    let first = try #require(observer.results.first)
    first.title = "z"
    #expect(observer.outline == "poetry:b travel:z")
  }

  @Test func `are found by title`() throws {
    add("a", "poetry")
    add("b", "travel")
    let sections = try #require(try observer().sections)
    #expect(sections.sectionTitles == ["poetry", "travel"])
    #expect(sections.map(\.id) == sections.sectionTitles)
    #expect(sections.contains(sectionTitle: "travel"))
    #expect(!sections.contains(sectionTitle: ""))
    #expect(sections.index(ofSectionTitled: "travel") == 1)
    #expect(sections[sectionTitle: "travel"]?.map(\.title) == ["b"])
    #expect(sections[sectionTitle: "fiction"] == nil)
  }

  @Test func `are equal as long as they hold the same models`() throws {
    let a = add("a", "poetry")
    add("b", "poetry")
    let observer = try observer()
    let before = observer.sections
    a.pages = 9
    #expect(observer.sections == before)
    #expect(try self.observer().sections == before)
    a.title = "c"
    #expect(observer.sections != before)
    #expect(before?.first?.map(\.title) == ["c", "b"])
    a.title = "a"
    #expect(observer.sections == before)
  }

  @Test func `have index paths`() throws {
    add("a", "poetry")
    let b = add("b", "travel")
    let c = add("c", "travel")
    let observer = try observer()
    #expect(observer.indexPath(for: c) == IndexPath(indexes: [1, 1]))
    #expect(observer.element(at: IndexPath(indexes: [1, 0])) === b)
    for path in [[2, 0], [1, 2], [0, 1], [-1, 0]] {
      #expect(observer.element(at: IndexPath(indexes: path)) == nil)
    }
    context.delete(b)
    #expect(observer.indexPath(for: c) == IndexPath(indexes: [1, 0]))
    #expect(observer.indexPath(for: b) == nil)
  }

  @Test func `may be titled by what is not stored`() throws {
    let a = add("apple", nil)
    add("pear", nil)
    let observer = try ResultsObserver<Volume, String>(
      sortBy: [SortDescriptor(\.title)],
      sectionBy: \.initial,
      modelContext: context
    )
    #expect(observer.outline == "a:apple p:pear")
    a.title = "plum"
    #expect(observer.outline == "p:pearplum")
    #expect(observer.sectionBy == \Volume.initial)
  }

  @Test func `can be had for every form of the initializer`() throws {
    add("a", "poetry")
    try context.save()
    let descriptor = FetchDescriptor<Volume>()
    let container = context.container
    let all: [ResultsObserver<Volume, String>] = [
      try ResultsObserver(
        fetchDescriptor: descriptor,
        sectionBy: \.language,
        modelContext: context
      ),
      try ResultsObserver(sectionBy: \.language, modelContext: context),
      try ResultsObserver(
        fetchDescriptor: descriptor,
        sectionBy: \.language,
        modelContainer: container
      ),
      try ResultsObserver(sectionBy: \.language, modelContainer: container),
      try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.genre, modelContext: context),
      try ResultsObserver(sectionBy: \.genre, modelContext: context),
      try ResultsObserver(
        fetchDescriptor: descriptor,
        sectionBy: \.genre,
        modelContainer: container
      ),
      try ResultsObserver(sectionBy: \.genre, modelContainer: container),
    ]
    #expect(
      all.map(\.outline) == Array(repeating: "en:a", count: 4)
        + Array(repeating: "poetry:a", count: 4)
    )
  }
}
