import Foundation
import LogStore
import ModelRuntime

/// A log in a temporary folder, or in memory.
struct LogPlace: ShelfPlace {
  private let folder: URL?
  private let onDisk: LogStoreConfiguration?

  init(_ packing: Packing) throws {
    if packing == .memory {
      (folder, onDisk) = (nil, nil)
      return
    }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "differential-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder
    var configuration = LogStoreConfiguration(
      url: folder.appending(path: "pieces.store"),
      durability: .relaxed
    )
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    configuration.schema = differentialSchema
    onDisk = configuration
  }

  var configuration: any DataStoreConfiguration {
    if let onDisk { return onDisk }
    return ModelConfiguration(isStoredInMemoryOnly: true)
  }

  func compact() throws {
    if let onDisk { _ = try LogStore(onDisk, migrationPlan: nil).compact() }
  }

  func remove() {
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }
}

extension Differential {
  /// Asks a log.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - pieceCount: About how many rows the store has.
  ///   - questionCount: How many questions it is asked in each state.
  /// - Throws: What the store throws other than as an answer.
  public mutating func run(seed: UInt64, pieceCount: Int, questionCount: Int) throws {
    try run(seed: seed, pieceCount: pieceCount, questionCount: questionCount) {
      try LogPlace($0)
    }
  }

  /// Asks a log on one thread while another saves.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - pieceCount: About how many rows the store has.
  ///   - saveCount: How many times the other thread saves.
  /// - Throws: What the store throws.
  public mutating func runBesideSaves(seed: UInt64, pieceCount: Int, saveCount: Int) throws {
    try runBesideSaves(seed: seed, pieceCount: pieceCount, saveCount: saveCount) {
      try LogPlace($0)
    }
  }
}
