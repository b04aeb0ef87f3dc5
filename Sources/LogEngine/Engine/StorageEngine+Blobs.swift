import Locking
import LogFormat
public import RowFormat
import Synchronization

// MARK: Reading

extension StorageEngine {
  /// Opens the side file of a value of the newest rows.
  ///
  /// A commit that takes the blob from its row may come first, and then the file is gone: read the row again, or hold a
  /// ``ReadView``, whose blobs stay.
  ///
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the file is missing or not the one that the row refers to.
  public func openBlob(_ reference: BlobReference) throws(StorageError) -> Blob {
    do throws(StorageError) {
      return try state.openBlob(reference)
    } catch {
      // A missing file may be gone because a commit has taken it from its row meanwhile.
      if !error.saysThatBlobIsMissing { state.reportDamage(error) }
      throw error
    }
  }
}

extension StorageError {
  var saysThatBlobIsMissing: Bool {
    if case .corruption(let corruption) = self {
      corruption.problem == .missing(.blob)
    } else {
      false
    }
  }
}

extension ReadView {
  /// Opens the side file of a value of the rows this view sees.
  ///
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the file is missing or not the one that the row refers to.
  public func openBlob(_ reference: BlobReference) throws(StorageError) -> Blob {
    try openBlob(reference, reads: state.options.reads)
  }

  /// Opens the side file of a value of the rows this view sees, to check or copy it: every failure of the disk can be caught.
  ///
  /// - Throws: Any error that ``openBlob(_:)`` throws.
  package func openUnmappedBlob(_ reference: BlobReference) throws(StorageError) -> Blob {
    try openBlob(reference, reads: .copied)
  }

  private func openBlob(
    _ reference: BlobReference,
    reads: ReadMethod
  ) throws(StorageError) -> Blob {
    do throws(StorageError) {
      return try state.openBlob(reference, of: state.store, reads: reads)
    } catch {
      state.reportDamage(error)
      throw error
    }
  }

  /// Visits every value in a side file that this view's rows own, without opening any.
  ///
  /// - Complexity: Reads every row of the tables that have blobs.
  public func forEachBlob(_ body: (OwnedBlob) throws -> ScanControl) throws {
    try state.forEachBlob(asOf: sequence.rawValue, in: catalogue, body)
  }
}

extension StoreState {
  /// Visits every value in a side file of the rows as of one commit.
  package func forEachBlob(
    asOf sequence: UInt64,
    in catalogue: Catalogue,
    _ body: (OwnedBlob) throws -> ScanControl
  ) throws {
    let reader = RowReader(state: self, sequence: sequence)
    for definition in catalogue.tables where definition.mayOwnBlobs {
      var control = ScanControl.proceed
      try reader.scan(definition.number, in: nil) { key, number, row in
        guard let layout = definition.layout(number) else { return .proceed }
        let owner = RowReference(table: definition.number, key: key)
        try layout.layout.forEachBlob(in: row) { column, reference in
          guard control == .proceed else { return }
          let blob = OwnedBlob(reference: reference, owner: owner, column: layout.columns[column])
          control = try body(blob)
        }
        return control
      }
      if control == .stop { return }
    }
  }
}

/// A value in a side file, with its owner.
public struct OwnedBlob: Hashable, Sendable {
  /// The row's reference to the file.
  public let reference: BlobReference
  /// The row.
  public let owner: RowReference
  /// The number of the column in the catalogue.
  public let column: UInt16

  package init(reference: BlobReference, owner: RowReference, column: UInt16) {
    self.reference = reference
    self.owner = owner
    self.column = column
  }
}

// MARK: Checking

/// The result of a check of a store's blobs.
public struct BlobCheck: Hashable, Sendable {
  /// The number of values in side files.
  public internal(set) var count = 0
  /// The size of the values in side files, in bytes.
  public internal(set) var byteCount = 0
  /// The values that cannot be read, and why.
  public internal(set) var damaged: [Damage] = []
  /// The number of files that no row owns: about to be removed, being written, or left by a crash for the next sweep.
  public internal(set) var unownedFileCount = 0
  /// The size of the files that no row owns, in bytes.
  public internal(set) var unownedByteCount = 0

  /// A value that cannot be read.
  public struct Damage: Hashable, Sendable {
    /// The value, and the row and column that own it.
    public let blob: OwnedBlob
    /// Why the value cannot be read.
    public let error: StorageError
  }
}

extension ReadView {
  /// Reads every side file that the view's rows own, compares it with its checksum, and looks for files that no row owns.
  ///
  /// - Parameter progress: Called with each blob, before it is read.
  /// - Returns: The findings; damage is not an error.
  /// - Throws: ``/LogFormat/StorageError`` if the rows or the folder cannot be read, or any error that `progress` throws.
  /// - Complexity: Reads all blobs, one piece in memory at a time.
  public func checkBlobs(
    _ progress: (OwnedBlob) throws -> Void = { _ in }
  ) throws -> BlobCheck {
    var check = BlobCheck()
    var owned = BlobSet()
    try forEachBlob { blob in
      try progress(blob)
      check.count += 1
      check.byteCount += blob.reference.byteCount
      owned.insert(blob.reference.id)
      do {
        try openUnmappedBlob(blob.reference).check()
      } catch let error as StorageError {
        check.damaged.append(BlobCheck.Damage(blob: blob, error: error))
      }
      return .proceed
    }
    try state.forEachBlobFile { id, byteCount in
      if owned.contains(id) { return }
      check.unownedFileCount += 1
      check.unownedByteCount += byteCount
    }
    return check
  }
}

extension StoreState {
  /// Visits the files in the folder of blobs, with their sizes.
  func forEachBlobFile(_ body: (BlobID, Int) throws -> Void) throws {
    for directory in try files.blobs.directories().sorted() {
      for id in try files.blobs.list(directory) {
        // The file may have been removed since.
        if let size = try fileSystem.size(of: paths.blob(id)) { try body(id, size) }
      }
    }
  }
}

// MARK: Figures

/// The blobs of a store in figures.
public struct BlobUsage: Hashable, Sendable {
  /// The number of files.
  public internal(set) var fileCount = 0
  /// The size of these files, in bytes.
  public internal(set) var byteCount = 0
  /// The number of files waiting to be removed: for a commit to reach the disk, or a reader to end.
  public internal(set) var retiredCount = 0
}

extension StorageEngine {
  /// Whether a background sweep for files that no row owns is running.
  public var isSweepingBlobs: Bool { writer?.housekeeper.isSweepingBlobs ?? false }

  /// Counts the files of blobs.
  ///
  /// - Complexity: O(blobs): asks the file system for each.
  public func blobUsage() throws -> BlobUsage {
    var usage = BlobUsage()
    try state.forEachBlobFile { _, byteCount in
      usage.fileCount += 1
      usage.byteCount += byteCount
    }
    usage.retiredCount = state.files.blobs.retired.withLock { $0.count }
    return usage
  }
}

// MARK: Removed tables

extension StoreState {
  /// Releases the blobs of all rows of a removed table.
  ///
  /// - Parameters:
  ///   - number: The table.
  ///   - sequence: The commit that removed it; the state before it must be pinned.
  func retireBlobs(ofTable number: UInt16, removedBy sequence: UInt64) {
    guard let table = tables[Int(number)], table.mayOwnBlobs.load(ordering: .relaxed) else {
      return
    }
    do {
      var ids: [BlobID] = []
      let reader = RowReader(state: self, sequence: sequence - 1)
      try reader.scan(number, in: nil) { _, layout, row in
        table.layouts.with(Int(layout.rawValue)) { layout in
          layout.forEachBlob(in: row) { _, reference in ids.append(reference.id) }
        }
        return .proceed
      }
      retireBlobs(ids, by: sequence)
    } catch {
      // A row cannot be read: the sweep of the next opening finds its blobs.
      files.blobs.hasLeftovers.store(true, ordering: .relaxed)
    }
  }
}
