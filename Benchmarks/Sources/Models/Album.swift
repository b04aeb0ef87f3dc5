import SwiftData

/// A model with many of another.
@Model
final class Album {
  var title: String
  @Relationship(inverse: \Photo.album) var photos: [Photo] = []

  init(title: String) { self.title = title }
}

/// One of many.
@Model
final class Photo {
  var number: Int
  var album: Album?

  init(number: Int) { self.number = number }
}
