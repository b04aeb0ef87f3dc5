import Floor
import Foundation
import GRDBPeer
import Workloads

/// Writes as many bytes as a store of rows must, and waits for the disk.
final class FloorSaver: TripSaver {
  private let commits: FloorCommits

  init(_ folder: URL) throws {
    let log = try FloorLog(path: folder.appending(path: "floor").path)
    // A row, its record's header, its frame's header.
    commits = FloorCommits(log: log, rowsPerCommit: 1, bytesPerCommit: 178 + 24 + 72)
  }

  func save(_ records: ArraySlice<TripRecord>) throws { try commits.commitDurably() }
}
