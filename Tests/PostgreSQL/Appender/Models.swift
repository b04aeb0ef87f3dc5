import ModelRuntime

// Models with all kinds of ends that are stored twice, or with their owners.

@Model final class Reader {
  var name: String
  @Relationship(inverse: \Club.readers) var clubs: [Club] = []
  var notes: [Note] = []
  @Relationship(inverse: \Card.reader) var card: Card?

  init(_ name: String) { self.name = name }
}

@Model final class Club {
  var name: String
  var readers: [Reader] = []
  init(_ name: String) { self.name = name }
}

@Model final class Note {
  var text: String
  init(_ text: String) { self.text = text }
}

@Model final class Card {
  var text: String
  var reader: Reader?
  init(_ text: String) { self.text = text }
}
