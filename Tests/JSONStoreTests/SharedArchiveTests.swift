import Foundation
import JSONStore
import SwiftData
import Synchronization
import Testing

@Suite struct `An archive that several containers of a process have open` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let real = folder.url.appending(path: "real")
    try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: folder.url.appending(path: "link"),
      withDestinationURL: real
    )
  }

  private func open(_ path: String) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Journey.self]),
      configurations: [
        JSONStoreConfiguration(name: "journeys", url: folder.url.appending(path: path))
      ]
    )
  }

  @Test(arguments: ["real/a.json", "real/../real/a.json", "link/a.json"])
  func `loses no save, however its path is written`(path: String) async throws {
    let containers = [try open("real/a.json"), try open(path)]
    let saveCount = 40
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, container) in containers.enumerated() {
        group.addTask {
          let context = ModelContext(container)
          for save in 0..<saveCount {
            context.insert(
              Journey(name: "\(number) \(save)", destination: "Rome", startDate: .day(save))
            )
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let names = try ModelContext(containers[0]).fetch(FetchDescriptor<Journey>()).map(\.name)
    #expect(Set(names).count == 2 * saveCount)
  }

  /// Whoever closes it looks for one who has opened it meanwhile, and may be the last to know of that one.
  @Test func `may be opened and closed by several threads at once`() async throws {
    let url = folder.url.appending(path: "real/a.json")
    let archiveCount = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<5_000 {
            _ = try JSONStore(JSONStoreConfiguration(name: "a", url: url), migrationPlan: nil)
          }
          return 5_000
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(archiveCount == 20_000)
  }
}
