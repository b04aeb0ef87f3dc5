import Foundation
import JSONStore
import SwiftData

/// A store of its own for one test, in a folder that goes away with it.
final class TestStore {
  /// The stores a model may be kept in, by one line of set-up.
  enum Kind: CaseIterable, Sendable { case memory, file, json }

  let container: ModelContainer
  private let folder: URL

  init(_ kind: Kind, _ types: any PersistentModel.Type...) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration: any DataStoreConfiguration =
      switch kind {
      case .memory: ModelConfiguration(isStoredInMemoryOnly: true)
      case .file: ModelConfiguration(url: folder.appending(path: "test.store"))
      case .json: JSONStoreConfiguration(name: "test", url: folder.appending(path: "test.json"))
      }
    container = try ModelContainer(for: Schema(types), configurations: [configuration])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func makeContext() -> ModelContext { ModelContext(container) }
}
