import SwiftData

@Model
final class Walk {
  var name: String
  var note: String
  var rating: Int

  init(name: String, note: String, rating: Int) {
    self.name = name
    self.note = note
    self.rating = rating
  }
}

/// A model that is saved and registered.
final class SavedModel {
  let walk: Walk
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    container = try ModelContainer(for: Walk.self, configurations: configuration)
    context = ModelContext(container)
    walk = Walk(name: SampleRow.name, note: SampleRow.note, rating: 1)
    context.insert(walk)
    try context.save()
  }
}

/// A context that models are inserted into, changed in and fetched by.
final class Walks {
  private let context: ModelContext
  private var last: Walk?

  init() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    context = ModelContext(try ModelContainer(for: Walk.self, configurations: configuration))
  }

  /// Inserts models and saves them, so many at a time.
  func insert(_ count: Int, perSave: Int) throws {
    for number in 0..<count {
      let walk = Walk(name: SampleRow.name, note: SampleRow.note, rating: number)
      context.insert(walk)
      if (number + 1) % perSave == 0 { try context.save() }
      last = walk
    }
  }

  /// Changes a property of the newest model, and saves it each time.
  func change(_ count: Int) throws {
    for number in 0..<count {
      last?.rating = -number
      try context.save()
    }
  }

  /// Fetches all into a context of their own, and reads two properties of each.
  func readAll() throws {
    let walks = try ModelContext(context.container).fetch(FetchDescriptor<Walk>())
    for walk in walks {
      use(walk.rating)
      use(walk.name)
    }
  }
}

extension Operation {
  /// Models, and their properties.
  static var models: [Operation] {
    [
      Operation("model insert, 1,000 a save") {
        let walks = try Walks()
        return { count in try walks.insert(count, perSave: 1000) }
      },
      Operation("model insert, one a save") {
        let walks = try Walks()
        return { count in try walks.insert(count, perSave: 1) }
      },
      Operation("model change, one a save") {
        let walks = try Walks()
        try walks.insert(1000, perSave: 1000)
        return { count in try walks.change(count) }
      },
      Operation("model fetch, two properties read") {
        let walks = try Walks()
        try walks.insert(1000, perSave: 1000)
        return { count in for _ in 0..<count / 1000 { try walks.readAll() } }
      },
      Operation("property get") {
        let saved = try SavedModel()
        return { count in for _ in 0..<count { use(saved.walk.rating) } }
      },
      Operation("property get, text") {
        let saved = try SavedModel()
        return { count in for _ in 0..<count { use(saved.walk.note) } }
      },
      Operation("property set") {
        let saved = try SavedModel()
        return { count in for number in 0..<count { saved.walk.rating = number } }
      },
    ]
  }
}
