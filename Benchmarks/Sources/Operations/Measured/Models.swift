import Foundation
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

/// Models whose order is observed.
final class ObservedModels {
  private let walks: [Walk]
  private let container: ModelContainer
  private let observer: ResultsObserver<Walk, Never>
  private lazy var cursor = observer.makeCursor()
  private var number: UInt64 = 1

  init(count: Int, limit: Int? = nil) throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    container = try ModelContainer(for: Walk.self, configurations: configuration)
    let context = ModelContext(container)
    for number in 0..<count {
      context.insert(Walk(name: SampleRow.name, note: SampleRow.note, rating: number))
    }
    try context.save()
    var descriptor = FetchDescriptor<Walk>(
      predicate: #Predicate { $0.rating >= 0 },
      sortBy: [SortDescriptor(\.rating)]
    )
    walks = try context.fetch(descriptor)
    descriptor.fetchLimit = limit
    observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
  }

  /// Moves one model to another place, and asks what changed.
  func followOne() {
    moveOne()
    use(cursor.advance()?.difference.count ?? 0)
  }

  /// Moves one model to another place, and looks at the results.
  func changeOne() {
    moveOne()
    use(observer.results.count)
  }

  private func moveOne() {
    number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let (walk, rating) = (Int(number >> 40), Int(number >> 20 & 0xFFFFF))
    walks[walk % walks.count].rating = rating % walks.count
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
      Operation("change seen among 100,000 results") {
        let observed = try ObservedModels(count: 100_000)
        return { count in for _ in 0..<count { observed.changeOne() } }
      },
      Operation("change followed among 100,000 results") {
        let observed = try ObservedModels(count: 100_000)
        observed.followOne()
        return { count in for _ in 0..<count { observed.followOne() } }
      },
      Operation("change seen by the first 1,000 of 100,000 results") {
        let observed = try ObservedModels(count: 100_000, limit: 1000)
        return { count in for _ in 0..<count { observed.changeOne() } }
      },
      Operation("change seen among 1,000 results") {
        let observed = try ObservedModels(count: 1000)
        return { count in for _ in 0..<count { observed.changeOne() } }
      },
    ]
  }
}
