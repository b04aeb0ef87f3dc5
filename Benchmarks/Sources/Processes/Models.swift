import Foundation
import SwiftData

@Model
final class Sample {
  /// When it was saved, in microseconds of the clock that is never set.
  var time: Int
  var text: String

  init(time: Int, text: String) {
    self.time = time
    self.text = text
  }
}

/// Microseconds of a clock that all processes share.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000
}

/// What a process saves, and with what.
enum Saver: String, CaseIterable {
  /// A log store that one process has.
  case alone
  /// A log store that several processes write.
  case together
  case sqlite = "SQLite"

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - folder: Where it is, or is made.
  ///   - isDurable: Whether a save is on the disk when it returns.
  /// - Returns: Saves one row each time it is called; `nil` if this build has no SQLite.
  /// - Throws: What opening throws.
  func open(_ folder: URL, isDurable: Bool) throws -> (() throws -> Void)? {
    let text = String(repeating: "x", count: 100)
    switch self {
    case .alone, .together:
      let container = try Saver.container(folder, isDurable: isDurable, isShared: self == .together)
      let context = ModelContext(container)
      return {
        context.insert(Sample(time: now(), text: text))
        try context.save()
      }
    case .sqlite:
      #if SQLITE
      let database = try SharedDatabase(folder.appending(path: "sqlite"), isDurable: isDurable)
      return { try database.insert(now(), text) }
      #else
      return nil
      #endif
    }
  }

  static func container(
    _ folder: URL,
    isDurable: Bool,
    isShared: Bool,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.appending(path: "store"),
      allowsSave: allowsSave,
      durability: isDurable ? .full : .relaxed
    )
    if isShared { configuration.writers = .severalProcesses }
    return try ModelContainer(for: Sample.self, configurations: configuration)
  }
}
