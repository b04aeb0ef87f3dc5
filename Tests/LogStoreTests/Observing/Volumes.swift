import Foundation
import SwiftData

// What the tests of observers look at: volumes, most of them on a shelf.

@Model final class Shelf {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []

  init(_ name: String) { self.name = name }
}

@Model final class Volume {
  var title: String
  var pages: Int
  var weight: Double = 0
  var due: Date?
  var genre: String?
  var language: String = "en"
  var shelf: Shelf?

  /// Not stored.
  var initial: String { String(title.prefix(1)) }

  init(_ title: String, pages: Int = 0, genre: String? = nil) {
    self.title = title
    self.pages = pages
    self.genre = genre
  }
}

func makeShelves() throws -> ModelContainer {
  try ModelContainer(
    for: Schema([Shelf.self, Volume.self]),
    configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
  )
}

extension ModelContext {
  /// Adds volumes titled as letters, and saves.
  @discardableResult
  func addVolumes(_ titles: String) throws -> [Volume] {
    let volumes = titles.map { Volume(String($0)) }
    for volume in volumes { insert(volume) }
    try save()
    return volumes
  }
}
