import Foundation
import SwiftData

@Model
final class Visit {
  var place: String
  var rating: Int

  init(place: String, rating: Int) {
    self.place = place
    self.rating = rating
  }
}

/// Stores of one process that are all open at once: one for each customer of a service, say.
struct Tenants {
  private let folder: URL
  private var containers: [ModelContainer] = []

  init(_ folder: URL) { self.folder = folder }

  var count: Int { containers.count }

  /// Opens new stores, each with a saved model, until there are as many as asked for.
  mutating func open(upTo count: Int) throws {
    while containers.count < count {
      let number = containers.count
      let place = folder.appending(path: "\(number / 1000)/\(number).logstore")
      let container = try ModelContainer(
        for: Visit.self,
        configurations: LogStoreConfiguration(url: place, durability: .relaxed)
      )
      containers.append(container)
      let context = ModelContext(container)
      context.insert(Visit(place: "place \(number)", rating: number))
      try context.save()
    }
  }

  /// Checks that the first, the middle and the last store have the model that was saved in them.
  func check() throws {
    for number in [0, count / 2, count - 1] {
      let found = try ModelContext(containers[number]).fetch(FetchDescriptor<Visit>()).map(\.rating)
      guard found == [number] else { throw WrongModels(store: number, found: found) }
    }
  }

  /// How many bytes the stores' files take on the disk, those included that are reserved and not written.
  func diskByteCount() -> Int {
    let entries = FileManager.default.enumerator(atPath: folder.path)
    var count = 0
    while let entry = entries?.nextObject() as? String {
      var status = stat()
      if lstat(folder.appending(path: entry).path, &status) == 0 {
        count += Int(status.st_blocks) * 512
      }
    }
    return count
  }

  mutating func close() { containers = [] }

  struct WrongModels: Error {
    let store: Int
    let found: [Int]
  }
}
