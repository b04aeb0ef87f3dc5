public import Foundation
import LogEngine
public import Workloads

extension EngineTrips {
  /// The bytes of the log of a closed store.
  ///
  /// - Parameter folder: The store's folder.
  /// - Returns: The sum of the sizes of its segments.
  /// - Throws: What the file system throws.
  public static func logByteCount(_ folder: URL) throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder.appending(path: "log"),
      includingPropertiesForKeys: [.fileSizeKey]
    )
    return try files.reduce(0) {
      try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }
  }

  /// Number of bytes that the engine writes for a commit of so many of these records: the number that the floor has to
  /// write, too.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - rowsPerCommit: The number of records in a commit.
  ///   - folder: The folder for the attempt; a store is left behind.
  /// - Returns: The average of some commits, less what an empty store weighs.
  /// - Throws: What the engine throws.
  public static func bytesPerCommit(
    _ records: [TripRecord],
    _ rowsPerCommit: Int,
    in folder: URL
  ) throws -> Int {
    let commits = max(1, min(100, 2000 / rowsPerCommit))
    let full = folder.appending(path: "full")
    let empty = folder.appending(path: "empty")
    for (place, commits) in [(full, commits), (empty, 0)] {
      let trips = try EngineTrips(at: place.path, .relaxed(interval: .seconds(1)))
      for number in 0..<commits {
        let start = number * rowsPerCommit % records.count
        try trips.insert(records[start..<min(records.count, start + rowsPerCommit)])
      }
      try trips.close()
    }
    return try (logByteCount(full) - logByteCount(empty)) / commits
  }
}
