import Foundation
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Suite struct `Owners that are deleted and lead to members in several ways` {
  let albums: Albums

  init() throws { albums = try Albums() }

  @Test(arguments: [true, false])
  func `delete a member once that another relationship leads to`(isCover: Bool) throws {
    try albums.changeAlbum { album, _ in
      let tune = album.tunes.first { $0.key == 1 }
      if isCover { album.cover = tune } else { album.pinned = tune.map { [$0] } ?? [] }
    }
    try albums.changeAlbum { album, context in
      context.delete(album)
      context.checkInvariants()
      #expect(album.tunes.count == 3 && album.tunes.allSatisfy(\.isDeleted))
      context.checkInvariants()
    }
    try #expect(albums.count(of: Tune.self) == 0)
    try #expect(albums.count(of: Album.self) == 0)
  }

  @Test(arguments: [true, false])
  func `save at once with such a member`(isCover: Bool) throws {
    try albums.changeAlbum { album, _ in
      if isCover { album.cover = album.tunes.last } else { album.pinned = album.tunes }
    }
    try albums.changeAlbum { album, context in context.delete(album) }
    try #expect(albums.count(of: Tune.self) == 0)
  }
}

@Suite struct `Owners that are deleted and inserted again` {
  let albums: Albums

  init() throws { albums = try Albums() }

  @Test func `show no member that was inserted again before them`() throws {
    try albums.changeAlbum { album, context in
      let tune = album.tunes[0]
      context.delete(album)
      context.insert(tune)
      context.insert(album)
      #expect(tune.album == nil)
      #expect(album.tunes.isEmpty)
      context.checkInvariants()
    }
    try albums.changeAlbum { album, _ in #expect(album.tunes.isEmpty) }
    try #expect(albums.count(of: Tune.self) == 1)
  }

  @Test func `show no member that their delete let go`() throws {
    try albums.changeAlbum { album, context in
      let captions = album.captions
      context.delete(album)
      context.insert(album)
      #expect(captions.count == 2 && captions.allSatisfy { $0.album == nil && !$0.isDeleted })
      #expect(album.captions.isEmpty)
      album.captions.append(captions[1])
      #expect(album.captions.map(\.key) == [captions[1].key])
    }
    try albums.changeAlbum { album, _ in #expect(album.captions.count == 1) }
    try #expect(albums.count(of: Caption.self) == 2)
  }

  @Test(arguments: [true, false])
  func `show no new member that their delete let go`(isSaved: Bool) throws {
    let context = ModelContext(albums.container)
    let album = Album(2)
    context.insert(album)
    if isSaved { try context.save() }
    let (caption, tune) = (Caption(7), Tune(7))
    album.captions = [caption]
    album.tunes = [tune]
    context.delete(album)
    context.insert(tune)
    context.insert(album)
    #expect(caption.album == nil && tune.album == nil)
    #expect(album.captions.isEmpty && album.tunes.isEmpty)
    context.checkInvariants()
    try context.save()
    #expect(album.captions.isEmpty && album.tunes.isEmpty)
    try #expect(albums.count(of: Caption.self) == 3)
  }

  @Test func `tell the observers of their lists`() throws {
    try albums.changeAlbum { album, context in
      context.delete(album)
      nonisolated(unsafe) var isTold = false
      #expect(
        withObservationTracking {
          album.captions.count
        } onChange: {
          isTold = true
        } == 2
      )
      context.insert(album)
      #expect(isTold)
      #expect(album.captions.isEmpty)
    }
  }
}
