import Foundation
import SwiftData

// Albums whose tunes go with them, and that also lead to tunes by relationships which these do not know of; their captions stay.

@Model final class Album {
  var key: Int
  @Relationship(deleteRule: .cascade, inverse: \Tune.album) var tunes: [Tune] = []
  @Relationship(deleteRule: .cascade) var cover: Tune?
  @Relationship(deleteRule: .nullify) var pinned: [Tune] = []
  @Relationship(deleteRule: .nullify, inverse: \Caption.album) var captions: [Caption] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Tune {
  var key: Int
  var album: Album?
  init(_ key: Int) { self.key = key }
}

@Model final class Caption {
  var key: Int
  var album: Album?
  init(_ key: Int) { self.key = key }
}

/// A store of one album, in memory.
struct Albums {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Album.self, Tune.self, Caption.self]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let album = Album(1)
    context.insert(album)
    album.tunes = (0..<3).map { Tune($0) }
    album.captions = (0..<2).map { Caption($0) }
    try context.save()
  }

  /// Changes the album in a context of its own.
  func changeAlbum(_ change: (Album, ModelContext) throws -> Void) throws {
    let context = ModelContext(container)
    if let album = try context.fetch(FetchDescriptor<Album>()).first { try change(album, context) }
    try context.save()
  }

  func count<T: PersistentModel>(of type: T.Type) throws -> Int {
    try ModelContext(container).fetchCount(FetchDescriptor<T>())
  }
}
