import Foundation
import JSONStore
import SwiftData
import Testing

@Suite struct `A JSON file that is damaged` {
  let folder: TemporaryFolder
  let file: URL
  let whole: Data

  init() throws {
    folder = try TemporaryFolder()
    file = folder.url.appending(path: "journeys.json")
    let context = ModelContext(try Self.open(file))
    let journey = Journey(name: "Spring", destination: "Lisbon", startDate: .day(100))
    journey.wishes = [Wish("tram 28")]
    context.insert(journey)
    try context.save()
    whole = try Data(contentsOf: file)
  }

  private static func open(_ file: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Journey.self]),
      configurations: [JSONStoreConfiguration(name: "journeys", url: file)]
    )
  }

  /// Reads all that a file has, and saves one more model.
  private func use(_ data: Data) throws {
    try data.write(to: file)
    let context = ModelContext(try Self.open(file))
    for journey in try context.fetch(FetchDescriptor<Journey>()) {
      _ = journey.wishes.map(\.title)
      journey.name += "!"
    }
    context.insert(Journey(name: "Winter", destination: "Oslo", startDate: .day(10)))
    try context.save()
  }

  @Test func `by a cut at any length is refused and stays as it is`() throws {
    for length in 1..<whole.count {
      #expect(throws: JSONStoreError.self, "the first \(length) bytes") {
        try use(whole.prefix(length))
      }
      #expect(try Data(contentsOf: file) == whole.prefix(length))
    }
  }

  @Test func `in any byte is read or refused`() throws {
    var refusals = 0
    for place in whole.indices {
      for change in [0x01, 0x10, 0x80] as [UInt8] {
        var data = whole
        data[place] ^= change
        do { try use(data) } catch { refusals += 1 }
      }
    }
    #expect(refusals > whole.count)
  }

  @Test func `since it is a folder is refused in words`() throws {
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let error = #expect(throws: JSONStoreError.self) {
      let context = ModelContext(try Self.open(file))
      _ = try context.fetch(FetchDescriptor<Journey>())
    }
    #expect(
      error?.localizedDescription.hasSuffix("found a folder: give the store the URL of a file")
        == true
    )
  }

  @Test func `by a model that it has twice is refused with the model named`() throws {
    let models = try #require(try JSONSerialization.jsonObject(with: whole) as? [Any])
    let data = try JSONSerialization.data(withJSONObject: models + models)
    #expect { try use(data) } throws: { error in
      guard case JSONStoreError.notAnArchive(_, let reason) = error else { return false }
      return reason.contains("twice") && reason.contains("Journey")
    }
  }
}
