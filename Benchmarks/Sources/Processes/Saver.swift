import Foundation
import Harness
import SwiftData

@Model
final class Entry {
  /// The time of the save, in nanoseconds of the clock that is never set, which all processes share.
  var time: Int
  var text: String

  init(time: Int, text: String) {
    self.time = time
    self.text = text
  }
}

/// The means by which a process saves.
enum Saver: String, CaseIterable {
  /// A log store that one process has.
  case alone
  /// A log store that several processes write.
  case together
  case sqlite

  var contender: Contender { self == .sqlite ? .sqlite : .models }

  var settings: String {
    switch self {
    case .alone: "a context on LogStore, a model of 108 bytes a save"
    case .together: "a context on LogStore, writers .severalProcesses, a model of 108 bytes a save"
    case .sqlite: "SQLite, WAL, busy_timeout 60 s, prepared statements, a row of 108 bytes a commit"
    }
  }

  /// Whether this build has the means to save.
  var isInstalled: Bool {
    #if SQLITE
    true
    #else
    self != .sqlite
    #endif
  }

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - folder: The folder of the store, which is made if need be.
  ///   - durability: The event that a save waits for.
  /// - Returns: Saves one row each time it is called.
  /// - Throws: What opening throws.
  func open(_ folder: URL, _ durability: Harness.Durability) throws -> () throws -> Void {
    let text = String(repeating: "x", count: 100)
    switch self {
    case .alone, .together:
      let container = try Saver.container(folder, durability, isShared: self == .together)
      let context = ModelContext(container)
      return {
        context.insert(Entry(time: Int(monotonicNanoseconds()), text: text))
        try context.save()
      }
    case .sqlite:
      #if SQLITE
      let database = try SharedDatabase(folder.appending(path: "sqlite"), durability)
      return { try database.insert(Int(monotonicNanoseconds()), text) }
      #else
      throw CompanionFailure(.sqlite)
      #endif
    }
  }

  static func container(
    _ folder: URL,
    _ durability: Harness.Durability,
    isShared: Bool,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.appending(path: "store"),
      allowsSave: allowsSave,
      durability: durability == .full ? .full : .relaxed
    )
    if isShared { configuration.writers = .severalProcesses }
    return try ModelContainer(for: Entry.self, configurations: configuration)
  }
}
