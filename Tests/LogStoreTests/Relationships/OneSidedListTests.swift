import Foundation
import SwiftData
import Testing

// Lists whose members do not refer back: only their owners' rows say what is in them.

@Suite struct `A list without an inverse` {
  let container: ModelContainer

  init() throws {
    let schema = Schema([Playlist.self, Song.self])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let playlist = Playlist()
    context.insert(playlist)
    playlist.songs = [Song(1), Song(2)]
    try context.save()
  }

  private func playlist(_ context: ModelContext) throws -> Playlist {
    try #require(try context.fetch(FetchDescriptor<Playlist>()).first)
  }

  private var storedSongs: [Int] {
    get throws { try playlist(ModelContext(container)).songs.map(\.number) }
  }

  @Test func `has what another context appended, once its owner is fetched again`() throws {
    let (first, second) = (ModelContext(container), ModelContext(container))
    let here = try playlist(first)
    #expect(here.songs.map(\.number) == [1, 2])
    try playlist(second).songs.append(Song(3))
    try second.save()
    _ = try playlist(first)
    #expect(here.songs.map(\.number) == [1, 2, 3])
    here.songs.append(Song(4))
    try first.save()
    #expect(try storedSongs == [1, 2, 3, 4])
  }

  @Test(arguments: [false, true])
  func `keeps what two contexts append`(isRead: Bool) throws {
    let (first, second) = (ModelContext(container), ModelContext(container))
    let (here, there) = (try playlist(first), try playlist(second))
    if isRead { #expect(here.songs.count == 2 && there.songs.count == 2) }
    here.songs.append(Song(10))
    there.songs.append(Song(20))
    try first.save()
    try second.save()
    #expect(try storedSongs == [1, 2, 10, 20])
  }

  @Test func `loses what either of two contexts takes out`() throws {
    let (first, second) = (ModelContext(container), ModelContext(container))
    let (here, there) = (try playlist(first), try playlist(second))
    here.songs.removeFirst()
    there.songs.removeLast()
    try first.save()
    try second.save()
    #expect(try storedSongs.isEmpty)
  }
}

@Model final class Playlist {
  var songs: [Song] = []
  init() {}
}

@Model final class Song {
  var number: Int
  init(_ number: Int) { self.number = number }
}
