import Foundation

/// A folder that goes away with the test that made it.
final class TestFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
