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
