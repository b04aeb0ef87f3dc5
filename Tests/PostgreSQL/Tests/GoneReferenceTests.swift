import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Model private class Picture {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model private final class Photo: Picture {
  override init(_ name: String) { super.init(name) }
}

@Model private final class Song {
  var number: Int
  init(_ number: Int) { self.number = number }
}

// Nothing leads back to it.
@Model private final class Playlist {
  var name: String
  var first: Song?
  var songs: [Song] = []
  /// Of a class with subclasses.
  var cover: Picture?
  init(_ name: String) { self.name = name }
}

@Suite struct `A reference whose model was deleted, and which has no inverse` {
  private let container: ModelContainer
  private let store: PostgresStore
  private let gone: [PersistentIdentifier]

  init() throws {
    container = try TestNamespace().container(
      Playlist.self,
      Song.self,
      Picture.self,
      Photo.self
    )
    store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    let songs = (1...3).map(Song.init)
    let pictures = [Picture("a"), Photo("b"), Photo("c")]
    let lists = ["gone", "kept", "none"].map(Playlist.init)
    for list in lists { context.insert(list) }
    for (list, place) in zip(lists, 0..<2) {
      list.first = songs[place]
      list.songs = [songs[place]]
      list.cover = pictures[place]
    }
    lists[1].songs.append(songs[2])
    lists[0].cover = pictures[2]
    try context.save()
    gone = [songs[0].persistentModelID, pictures[2].persistentModelID]
    context.delete(songs[0])
    context.delete(pictures[2])
    try context.save()
  }

  private func names(_ predicate: Predicate<Playlist>) throws -> [String] {
    let context = ModelContext(container)
    let descriptor = FetchDescriptor(predicate: predicate)
    let plan = try context.explain(descriptor)
    #expect(plan.accesses.map(\.path) == [.server], "\(plan)")
    return try context.fetch(descriptor).map(\.name).sorted()
  }

  @Test func `reads as nil, also in a predicate`() throws {
    let lists = try ModelContext(container).fetch(
      FetchDescriptor<Playlist>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(lists.map { $0.first == nil } == [true, false, true])
    #expect(lists.map { $0.cover == nil } == [true, false, true])
    #expect(try names(#Predicate { $0.first == nil }) == ["gone", "none"])
    #expect(try names(#Predicate { $0.first != nil }) == ["kept"])
    #expect(try names(#Predicate { $0.cover == nil }) == ["gone", "none"])
    #expect(try names(#Predicate { $0.cover != nil }) == ["kept"])
  }

  @Test func `is no identifier`() throws {
    let (song, picture) = (gone[0], gone[1])
    #expect(try names(#Predicate { $0.first?.persistentModelID == song }) == [])
    #expect(
      try names(#Predicate { $0.first?.persistentModelID != song }) == ["gone", "kept", "none"]
    )
    #expect(try names(#Predicate { $0.cover?.persistentModelID == picture }) == [])
    let all: [PersistentIdentifier?] = [song, nil]
    let found = try names(#Predicate { all.contains($0.first?.persistentModelID) })
    #expect(found == ["gone", "none"])
  }

  @Test func `is no member of a list`() throws {
    #expect(try names(#Predicate { $0.songs.isEmpty }) == ["gone", "none"])
    #expect(try names(#Predicate { !$0.songs.isEmpty }) == ["kept"])
    #expect(try names(#Predicate { $0.songs.count == 0 }) == ["gone", "none"])
    #expect(try names(#Predicate { $0.songs.count > 1 }) == ["kept"])
    #expect(try names(#Predicate { $0.songs.contains { $0.number < 2 } }) == [])
  }
}
