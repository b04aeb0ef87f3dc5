import Foundation
import Harness

/// Stores as a killed process leaves them: copies of the files of open ones, each to be opened once.
final class KilledStores {
  private let folder: URL
  private let count: Int
  /// Number of copies that were handed out, by name.
  private var taken: [String: Int] = [:]

  /// - Parameters:
  ///   - folder: The folder of the open stores.
  ///   - count: The number of copies of each.
  init(in folder: URL, count: Int) {
    self.folder = folder
    self.count = count
  }

  /// Waits until the background of an open store, with no writer, has written a number of indexes; for half a minute at
  /// most.
  func waitForIndexes(_ indexCount: Int, of name: String) {
    let indexes = folder.appending(path: name).appending(path: "index").path
    for _ in 0..<60 {
      Thread.sleep(forTimeInterval: 0.5)
      let files = (try? FileManager.default.contentsOfDirectory(atPath: indexes)) ?? []
      if files.count(where: { $0.hasSuffix(".keys") }) >= indexCount { return }
    }
  }

  /// Copies files and folders, as far as they are there.
  func copy(_ names: [String]) throws {
    for copy in 0..<count {
      let place = self.place(copy)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      for name in names {
        let source = folder.appending(path: name)
        guard FileManager.default.fileExists(atPath: source.path) else { continue }
        try FileManager.default.copyItem(at: source, to: place.appending(path: name))
      }
    }
  }

  /// The next copy of a store.
  func next(_ name: String) -> URL {
    let number = taken[name, default: 0]
    taken[name] = number + 1
    return place(number).appending(path: name)
  }

  private func place(_ copy: Int) -> URL { folder.appending(path: "killed-\(copy)") }
}
