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

extension Operation {
  /// Properties of models.
  static var models: [Operation] {
    [
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
