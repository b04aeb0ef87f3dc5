import Locking
import LogFormat
import RowFormat

/// Finds and removes the files that no row owns: blobs whose commit or removal was prevented by a crash.
///
/// It marks the blobs that rows own as of the opening of the store, then goes through the folder. An unmarked file with a
/// number from before this session has no owner and can get none; a file with a number of this session is left alone, unless
/// the session is known not to have minted it: if several processes write, another may have.
///
/// It works in slices, between which commits, reads and other background work continue. It never removes anything if it could
/// not read every row.
struct BlobSweep: Sendable {
  /// Limit of the rows read in one slice.
  private static let rowsPerSlice = 1000

  /// The state to be marked: as the store was opened.
  private let sequence: UInt64
  /// The time at which the sweep began, in microseconds.
  private let start: Int64
  private var report = BlobSweepReport()
  private let pin: PinBoard.Pin
  /// The first number of this session.
  private let sessionStart: BlobID
  /// The tables whose rows may own blobs, and are not marked yet.
  private var tables: [UInt16]
  private var nextKey: UInt64 = 0
  private var marked = BlobSet()
  /// Whether other processes mint numbers, too.
  private let hasOthers: Bool
  /// Numbers of this session that were not minted, and will not be.
  private var claimed: [Range<UInt64>] = []
  /// The directories that are not swept yet; `nil` until the rows are marked.
  private var directories: [UInt8]?

  enum Progress { case goesOn, finished, abandoned }

  /// Begins a sweep; before the first commit of the session.
  init(_ state: StoreState) {
    start = state.fileSystem.microseconds()
    (pin, sequence) = state.visibility.pins.pin(state.visibility.visible, at: start)
    sessionStart = state.files.blobs.nextID
    hasOthers = state.options.writers == .severalProcesses
    let catalogue = state.visibility.catalogue.withLock { $0 }
    tables = catalogue.tables.filter(\.mayOwnBlobs).map(\.number)
  }

  /// Does one slice.
  mutating func step(_ state: StoreState) -> Progress {
    do {
      if !tables.isEmpty {
        try markRows(state)
        return .goesOn
      }
      var rest = try directories ?? state.files.blobs.directories()
      if let directory = rest.popLast() { try sweepDirectory(directory, state) }
      directories = rest
      return rest.isEmpty ? .finished : .goesOn
    } catch {
      report.failure = error as? StorageError
      return .abandoned
    }
  }

  mutating func end(_ state: StoreState) {
    state.visibility.pins.unpin(pin)
    guard state.events.isObserved else { return }
    report.duration = state.duration(since: start)
    state.events.report(.blobsSwept(report))
  }

  private mutating func markRows(_ state: StoreState) throws {
    guard let number = tables.last, let table = state.tables[Int(number)] else {
      tables.removeLast()
      return
    }
    var count = 0
    var last = nextKey
    let reader = RowReader(state: state, sequence: sequence)
    try reader.scan(number, in: nextKey..<UInt64.max) { key, layout, row in
      table.layouts.with(Int(layout.rawValue)) { layout in
        layout.forEachBlob(in: row) { _, reference in marked.insert(reference.id) }
      }
      count += 1
      last = key
      return count < BlobSweep.rowsPerSlice ? .proceed : .stop
    }
    if count < BlobSweep.rowsPerSlice {
      tables.removeLast()
      nextKey = 0
    } else {
      nextKey = last + 1
    }
  }

  private mutating func sweepDirectory(
    _ directory: UInt8,
    _ state: StoreState
  ) throws(StorageError) {
    let found = try state.files.blobs.list(directory)
    guard let highest = found.max() else { return }
    if !hasOthers {
      let range = state.files.blobs.claim(upTo: highest)
      if !range.isEmpty { claimed.append(range) }
    }
    for id in found where isOrphan(id) {
      try state.files.blobs.remove(id)
      report.removedFileCount += 1
    }
  }

  private func isOrphan(_ id: BlobID) -> Bool {
    if id < sessionStart { return !marked.contains(id) }
    return claimed.contains { $0.contains(id.rawValue) }
  }
}

extension TableDefinition {
  /// Whether a row of the table, of any layout, may own a blob.
  var mayOwnBlobs: Bool { layouts.contains { !$0.layout.blobColumns.isEmpty } }
}
