import LogStore
import SwiftData
import Testing

@Suite struct `A container beside the one that writes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(allowsSave: Bool) throws -> ModelContainer {
    let url = folder.url.appending(path: "measurements.store")
    return try ModelContainer(
      for: Schema([Measurement.self]),
      configurations: [LogStoreConfiguration(url: url, allowsSave: allowsSave)]
    )
  }

  @Test func `finds by index all that was saved, whichever of its contexts looks first`()
    async throws
  {
    let writer = ModelContext(try open(allowsSave: true))
    // So many others that a fetch looks the few up in the index.
    for value in 1000..<3000 {
      writer.insert(Measurement(value, place: "there", level: 0, taken: .distantPast))
    }
    try writer.save()
    let readers = try open(allowsSave: false)
    for round in 1...60 {
      writer.insert(Measurement(7, place: "here", level: 0, taken: .distantPast))
      try writer.save()
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let seven = FetchDescriptor<Measurement>(predicate: #Predicate { $0.value == 7 })
            return try ModelContext(readers).fetch(seven).count
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(counts == [round, round, round, round])
    }
  }
}
