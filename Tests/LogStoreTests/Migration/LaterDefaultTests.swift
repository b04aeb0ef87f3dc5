import Foundation
import LogStore
import SwiftData
import Testing

// An optional property gets a default, or another one, when rows from before it existed are there already.

private enum Plain {
  @Model final class Note {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

private enum Colored {
  @Model final class Note {
    var title: String
    var color: String?
    init(_ title: String) { self.title = title }
  }
}

private enum Blue {
  @Model final class Note {
    var title: String
    var color: String? = "blue"
    init(_ title: String) { self.title = title }
  }
}

private enum Red {
  @Model final class Note {
    var title: String
    var color: String? = "red"
    init(_ title: String) { self.title = title }
  }
}

private enum Mandatory {
  @Model final class Note {
    var title: String
    var color: String = "red"
    init(_ title: String) { self.title = title }
  }
}

@Suite struct `A default that comes later` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open<M: PersistentModel>(_ type: M.Type) throws -> ModelContext {
    let configuration = LogStoreConfiguration(url: folder.url.appending(path: "notes.store"))
    return ModelContext(try ModelContainer(for: Schema([type]), configurations: [configuration]))
  }

  private func write<M: PersistentModel>(_ make: (String) -> M, _ titles: Range<Int>) throws {
    let context = try open(M.self)
    for title in titles { context.insert(make("\(title)")) }
    try context.save()
  }

  /// Compares what rows are read as with what predicates, sorts and aggregates find of them.
  private func expectBlue(_ expected: Int, of total: Int) throws {
    let context = try open(Blue.Note.self)
    let all = try context.fetch(FetchDescriptor<Blue.Note>())
    #expect(all.count == total)
    #expect(all.count { $0.color == "blue" } == expected)
    #expect(all.count { $0.color == nil } == total - expected)
    let blue = FetchDescriptor<Blue.Note>(predicate: #Predicate { $0.color == "blue" })
    #expect(try context.fetchCount(blue) == expected)
    let colorless = FetchDescriptor<Blue.Note>(predicate: #Predicate { $0.color == nil })
    #expect(try context.fetchCount(colorless) == total - expected)
    var first = FetchDescriptor<Blue.Note>(sortBy: [SortDescriptor(\.color, order: .reverse)])
    first.fetchLimit = 10
    #expect(try context.fetch(first).allSatisfy { $0.color == "blue" })
  }

  // Enough rows that fetches read columns.
  @Test func `is not that of rows from before an optional property without one`() throws {
    try write(Plain.Note.init, 0..<1000)
    try write(Colored.Note.init, 1000..<1010)
    try write(Blue.Note.init, 2000..<2020)
    try expectBlue(20, of: 1030)
  }

  @Test func `is not that of rows that others wrote while an optional property was away`() throws {
    try write(Colored.Note.init, 0..<10)
    try write(Plain.Note.init, 10..<1000)
    _ = try open(Colored.Note.self)
    try write(Blue.Note.init, 1000..<1020)
    try expectBlue(20, of: 1020)
    let notes = try open(Mandatory.Note.self).fetch(FetchDescriptor<Mandatory.Note>())
    #expect(notes.count { $0.color == "red" } == 1000)
  }

  @Test func `is that of rows written while a property was away that had it`() throws {
    try write(Blue.Note.init, 0..<10)
    try write(Plain.Note.init, 10..<1000)
    try expectBlue(1000, of: 1000)
    let notes = try open(Red.Note.self).fetch(FetchDescriptor<Red.Note>())
    #expect(notes.allSatisfy { $0.color == "blue" })
  }

  @Test func `leaves a first one to older rows when the property must have a value`() throws {
    try write(Plain.Note.init, 0..<10)
    try write(Blue.Note.init, 10..<20)
    let notes = try open(Mandatory.Note.self).fetch(FetchDescriptor<Mandatory.Note>())
    #expect(notes.map(\.color) == [String](repeating: "blue", count: 20))
  }
}
