import LogStore
import SwiftData
import Testing

// Two versions of one app's models: the second has stored values of other shapes, and no defaults.

enum EarlierShapes {
  struct Spot: Codable, Hashable {
    var x: Int
    var name: String
  }

  @Model final class Place {
    var title: String
    var spot: Spot
    var route: [Spot]
    var tags: [Int]
    var levels: [Int]

    init(title: String, spot: Spot) {
      self.title = title
      self.spot = spot
      route = [spot]
      tags = [1, 2]
      levels = [3]
    }
  }
}

enum LaterShapes {
  enum Kind: String, Codable { case plain, steep }
  enum Access: Codable, Hashable { case path(width: Double), road }

  struct Spot: Codable, Hashable {
    var x: Int
    var name: String
    var height: Double
    var kind: Kind
    var access: Access
    var seen: [String: Int]
    var labels: Set<String>
    var comment: String?
  }

  @Model final class Place {
    var title: String
    var spot: Spot
    var route: [Spot]
    var tags: Set<String>
    var levels: [String: Int]

    init(title: String, spot: Spot) {
      self.title = title
      self.spot = spot
      route = []
      tags = []
      levels = [:]
    }
  }
}

@Suite struct `A stored value of another shape than its type` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "places.store")
    let context = try open(EarlierShapes.Place.self)
    context.insert(EarlierShapes.Place(title: "a", spot: .init(x: 7, name: "hill")))
    try context.save()
  }

  func open(_ type: any PersistentModel.Type) throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Schema([type]), configurations: [LogStoreConfiguration(url: url)])
    )
  }

  /// What is left of the earlier spot.
  private let spot = LaterShapes.Spot(
    x: 7,
    name: "hill",
    height: 0,
    kind: .plain,
    access: .path(width: 0),
    seen: [:],
    labels: []
  )

  @Test func `reads as what is left of it, and neutral values`() throws {
    let context = try open(LaterShapes.Place.self)
    let place = try #require(try context.fetch(FetchDescriptor<LaterShapes.Place>()).first)
    #expect(place.spot == spot)
    #expect(place.route == [])
    #expect(place.tags == [])
    #expect(place.levels == [:])
    #expect(place.title == "a")
  }

  enum Property: String, CaseIterable {
    case spot, tags, levels

    func read(of place: LaterShapes.Place) {
      switch self {
      case .spot: _ = place.spot
      case .tags: _ = place.tags
      case .levels: _ = place.levels
      }
    }
  }

  @Test(arguments: Property.allCases)
  func `makes the next fetch or save throw, once`(property: Property) throws {
    let context = try open(LaterShapes.Place.self)
    let place = try #require(try context.fetch(FetchDescriptor<LaterShapes.Place>()).first)
    property.read(of: place)
    let error = #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<LaterShapes.Place>())
    }
    #expect(error == .modelValidationFailure)
    #expect("\(String(describing: error))".contains(property.rawValue))
    #expect(try context.fetch(FetchDescriptor<LaterShapes.Place>()).count == 1)
  }

  @Test func `stays as it is when other properties are saved`() throws {
    try {
      let context = try open(LaterShapes.Place.self)
      let place = try #require(try context.fetch(FetchDescriptor<LaterShapes.Place>()).first)
      place.title = "b"
      _ = place.spot
      #expect(throws: SwiftDataError.self) { try context.save() }
      try context.save()
    }()
    let context = try open(EarlierShapes.Place.self)
    let place = try #require(try context.fetch(FetchDescriptor<EarlierShapes.Place>()).first)
    #expect(place.title == "b")
    #expect(place.spot == .init(x: 7, name: "hill"))
    #expect(place.tags == [1, 2])
  }

  @Test func `is asked by predicates for what it reads as`() throws {
    let context = try open(LaterShapes.Place.self)
    for _ in 0..<2 {
      let high = FetchDescriptor<LaterShapes.Place>(predicate: #Predicate { $0.spot.height > 0 })
      let seven = FetchDescriptor<LaterShapes.Place>(
        predicate: #Predicate { $0.spot.x == 7 && $0.spot.name == "hill" }
      )
      #expect(try context.fetchCount(high) == 0)
      #expect(try context.fetchCount(seven) == 1)
      // Once more with the model changed, which is then asked itself.
      _ = try? context.fetch(FetchDescriptor<LaterShapes.Place>()).first?.title = "c"
    }
  }
}
