import Foundation
import LogStore
import SwiftData

// Binders whose sheets and lines go with them: lines are at the end of every cascade, sheets have remarks of their own.

@Model final class Binder {
  var key: Int
  @Relationship(deleteRule: .cascade, inverse: \Line.binder) var lines: [Line] = []
  @Relationship(deleteRule: .cascade, inverse: \Sheet.binder) var sheets: [Sheet] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Line {
  var key: Int
  @Attribute(.preserveValueOnDeletion) var text: String
  var binder: Binder?
  init(_ key: Int) {
    self.key = key
    text = "line \(key)"
  }
}

@Model final class Sheet {
  var key: Int
  var binder: Binder?
  @Relationship(deleteRule: .cascade, inverse: \Remark.sheet) var remarks: [Remark] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Remark {
  var key: Int
  var sheet: Sheet?
  init(_ key: Int) { self.key = key }
}

/// Leads to a line, which does not know of it.
@Model final class Bookmark {
  var key: Int
  var line: Line?
  @Relationship var lines: [Line] = []
  init(_ key: Int) { self.key = key }
}

/// A store of binders, in memory.
struct Binders {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Binder.self, Line.self, Sheet.self, Remark.self, Bookmark.self]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  /// Saves a binder with lines and sheets of two remarks each, and returns a context that has no objects.
  func context(binder key: Int = 1, lines: Int = 3, sheets: Int = 0) throws -> ModelContext {
    let context = ModelContext(container)
    let binder = Binder(key)
    context.insert(binder)
    binder.lines = (0..<lines).map { Line(10 * key + $0) }
    binder.sheets = (0..<sheets).map { number in
      let sheet = Sheet(10 * key + number)
      sheet.remarks = [Remark(100 * key + 2 * number), Remark(100 * key + 2 * number + 1)]
      return sheet
    }
    try context.save()
    return ModelContext(container)
  }

  /// What is stored: the keys of a class's rows.
  func keys<T: PersistentModel>(_ key: KeyPath<T, Int>) throws -> [Int] {
    try ModelContext(container).fetch(FetchDescriptor<T>()).map { $0[keyPath: key] }.sorted()
  }

  /// Changes something in a context of its own.
  func elsewhere(_ change: (ModelContext) throws -> Void) throws {
    let context = ModelContext(container)
    try change(context)
    try context.save()
  }
}

extension ModelContext {
  func binder(_ key: Int) throws -> Binder? {
    try fetch(FetchDescriptor<Binder>(predicate: #Predicate { $0.key == key })).first
  }
  func line(_ key: Int) throws -> Line? {
    try fetch(FetchDescriptor<Line>(predicate: #Predicate { $0.key == key })).first
  }
}
