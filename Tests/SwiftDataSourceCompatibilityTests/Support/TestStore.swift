import Foundation
import JSONStore
import SwiftData

/// A store of its own for one test, in a folder that goes away with it.
final class TestStore {
  let container: ModelContainer
  private let folder: URL

  init(_ types: any PersistentModel.Type...) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    container = try ModelContainer(
      for: Schema(types),
      configurations: [
        JSONStoreConfiguration(name: "test", url: folder.appending(path: "test.json"))
      ]
    )
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func makeContext() -> ModelContext { ModelContext(container) }
}
