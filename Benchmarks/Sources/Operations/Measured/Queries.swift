import Foundation
import LogStore
import SwiftData

/// Models in a store of their own, all in the log or all in packs.
private final class QueriedModels {
  /// A thousand operations are one question about all of them.
  static let count = 16_000

  enum Place: String { case log, packs }

  let container: ModelContainer
  private let folder: URL

  init(_ place: Place) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "operations-\(UUID())")
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.schema = Schema([Walk.self])
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    try Self.fill(configuration)
    if place == .packs { _ = try LogStore(configuration, migrationPlan: nil).compact() }
    container = try ModelContainer(for: Walk.self, configurations: configuration)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func fill(_ configuration: LogStoreConfiguration) throws {
    let context = ModelContext(try ModelContainer(for: Walk.self, configurations: configuration))
    for number in 0..<count {
      let name = "\(SampleRow.name) \(number % 50)"
      context.insert(Walk(name: name, note: SampleRow.note, rating: number &* 7919 % 10_007))
    }
    try context.save()
  }

  func count(_ predicate: Predicate<Walk>) throws -> Int {
    try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
  }

  func first(_ limit: Int) throws -> Int {
    var descriptor = FetchDescriptor<Walk>(sortBy: [SortDescriptor(\.rating)])
    descriptor.fetchLimit = limit
    return try ModelContext(container).fetch(descriptor).count
  }
}

extension Operation {
  /// Questions about many models: an operation is sixteen of them.
  static var queries: [Operation] {
    [QueriedModels.Place.log, .packs].flatMap { place in
      [
        Operation("count by two attributes, 16 models in \(place.rawValue)") {
          let models = try QueriedModels(place)
          let name = "\(SampleRow.name) 7"
          let predicate = #Predicate<Walk> { $0.name == name && $0.rating > 5000 }
          return { count in
            for _ in 0..<count / 1000 { use(try models.count(predicate)) }
          }
        },
        Operation("first 10 by an attribute, 16 models in \(place.rawValue)") {
          let models = try QueriedModels(place)
          return { count in
            for _ in 0..<count / 1000 { use(try models.first(10)) }
          }
        },
      ]
    }
  }
}
