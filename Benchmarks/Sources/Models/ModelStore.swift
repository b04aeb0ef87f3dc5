import Foundation
import SwiftData

/// A container of trips in a LogStore.
enum ModelStore {
  enum Durability { case full, relaxed }

  static func settings(_ durability: Durability) -> String {
    "ModelContext on LogStore, \(durability == .full ? ".full" : ".relaxed")"
  }

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - folder: The folder that holds it.
  ///   - durability: The event that a save waits for.
  /// - Returns: The description.
  static func configuration(_ folder: URL, _ durability: Durability) -> LogStoreConfiguration {
    LogStoreConfiguration(
      url: folder.appending(path: "trips.logstore"),
      durability: durability == .full ? .full : .relaxed
    )
  }

  /// Opens a store of trips.
  ///
  /// - Parameters:
  ///   - folder: The folder that holds it; a new store if there is none.
  ///   - durability: The event that a save waits for.
  /// - Returns: The container.
  /// - Throws: What the store throws.
  static func open(_ folder: URL, _ durability: Durability) throws -> ModelContainer {
    let configuration = configuration(folder, durability)
    return try ModelContainer(for: Schema([Trip.self]), configurations: [configuration])
  }
}
