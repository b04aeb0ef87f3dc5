import LogStore
import SwiftData
import Testing

// Two versions of one app's models: the second has a new property with a default, one without, a
// renamed one, lacks one, and lists them in another order.

enum FirstVersion {
  @Model final class Note {
    var title: String
    var body: String
    var stars: Int

    init(title: String, body: String, stars: Int) {
      self.title = title
      self.body = body
      self.stars = stars
    }
  }
}

enum SecondVersion {
  @Model final class Note {
    var isPinned: Bool = true
    @Attribute(originalName: "body") var text: String
    var title: String
    var color: String?

    init(title: String, text: String) {
      self.title = title
      self.text = text
    }
  }
}

enum BrokenVersion {
  @Model final class Note {
    var title: Int

    init(title: Int) { self.title = title }
  }
}

enum ForgetfulVersion {
  @Model final class Note {
    var title: String
    @Attribute(.ephemeral) var body: String = "nothing"
    @Attribute(.ephemeral) var stars: Int?

    init(title: String) { self.title = title }
  }
}

@Suite struct `Models that changed since the store was written` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "notes.store")
    let context = try open(FirstVersion.Note.self)
    context.insert(FirstVersion.Note(title: "a", body: "first", stars: 3))
    context.insert(FirstVersion.Note(title: "b", body: "second", stars: 4))
    try context.save()
  }

  func open(_ type: any PersistentModel.Type) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema([type]),
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  @Test func `read older rows with defaults for what is new, and under new names`() throws {
    let context = try open(SecondVersion.Note.self)
    let notes = try context.fetch(
      FetchDescriptor<SecondVersion.Note>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(notes.map(\.title) == ["a", "b"])
    #expect(notes.map(\.text) == ["first", "second"])
    #expect(notes.map(\.isPinned) == [true, true])
    #expect(notes.map(\.color) == [nil, nil])
  }

  @Test func `show initial values of what is stored no longer, also to predicates and sorts`()
    throws
  {
    for _ in 0..<2 {
      let context = try open(ForgetfulVersion.Note.self)
      let notes = try context.fetch(
        FetchDescriptor<ForgetfulVersion.Note>(
          predicate: #Predicate { $0.body == "nothing" && $0.stars == nil },
          sortBy: [SortDescriptor(\.stars), SortDescriptor(\.title, order: .reverse)]
        )
      )
      #expect(notes.map(\.title) == ["b", "a"])
      #expect(notes.map(\.body) == ["nothing", "nothing"])
      #expect(
        try context.fetchCount(
          FetchDescriptor<ForgetfulVersion.Note>(predicate: #Predicate { $0.body == "first" })
        ) == 0
      )
      notes[0].title = "c"
      try context.save()
      notes[0].title = "b"
      try context.save()
      try #require(context.container.stores(of: LogStore.self).first).close()
    }
  }

  @Test func `show what was stored again since, and not what was before`() throws {
    do {
      let context = try open(ForgetfulVersion.Note.self)
      context.insert(ForgetfulVersion.Note(title: "c"))
      try context.save()
    }
    do {
      let context = try open(FirstVersion.Note.self)
      let notes = try context.fetch(
        FetchDescriptor<FirstVersion.Note>(sortBy: [SortDescriptor(\.title)])
      )
      #expect(notes.map(\.body) == ["nothing", "nothing", "nothing"])
      notes[0].body = "again"
      try context.save()
    }
    let context = try open(ForgetfulVersion.Note.self)
    #expect(
      try context.fetchCount(
        FetchDescriptor<ForgetfulVersion.Note>(predicate: #Predicate { $0.body == "nothing" })
      ) == 3
    )
  }

  @Test func `update older rows without losing anything`() throws {
    try {
      let context = try open(SecondVersion.Note.self)
      let notes = try context.fetch(
        FetchDescriptor<SecondVersion.Note>(sortBy: [SortDescriptor(\.title)])
      )
      notes[0].color = "red"
      notes[1].isPinned = false
      try context.save()
    }()
    let context = try open(SecondVersion.Note.self)
    let notes = try context.fetch(
      FetchDescriptor<SecondVersion.Note>(sortBy: [SortDescriptor(\.title)])
    )
    #expect(notes.map(\.text) == ["first", "second"])
    #expect(notes.map(\.color) == ["red", nil])
    #expect(notes.map(\.isPinned) == [true, false])
  }

  @Test func `that changed a property's type are refused by name`() throws {
    let error = #expect(throws: LogStoreError.self) { try open(BrokenVersion.Note.self) }
    #expect(error.map { "\($0)" }?.contains("Note.title") == true)
  }
}
