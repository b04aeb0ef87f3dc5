import LogFormat
import RowFormat
import Synchronization

/// The blobs of an uncommitted batch.
///
/// Each passes through four stages: the file is written under a temporary name, it is synchronized, it gets its name, and the
/// directory is synchronized. Only then may a frame that refers to it be appended, so a row never refers to bytes that a power
/// cut can take. A commit that is refused in between continues from there when it is retried.
///
/// Blobs that were not handed over to a commit are removed when the batch is destroyed.
struct NewBlobs: ~Copyable {
  private struct Entry {
    let reference: BlobReference
    var stage: Stage
    /// Whether a row of the batch owns it.
    var isOwned = false
  }

  private enum Stage {
    case written(any OpenFile)
    /// Synchronizing failed: the state on disk is unknown, and a second attempt may report a false success.
    case lost(StorageError)
    case synchronized
    /// The file has its name, which may not be on disk yet.
    case named
    case published
    /// A commit refers to the blob, which no longer belongs to the batch.
    case handedOver
  }

  /// Limit of the files that stay open until they are synchronized: each takes a descriptor.
  private static let openLimit = 32

  private let blobs: Blobs
  /// The blobs, by ascending number.
  private var entries: [Entry] = []
  private var firstUnsynchronized = 0
  /// Whether the folder of blobs contains files of this batch that no commit refers to yet.
  private var isUnsettled = false

  init(_ blobs: Blobs) { self.blobs = blobs }

  deinit {
    guard blobs.isOpen.load(ordering: .acquiring) else { return }
    for entry in entries {
      switch entry.stage {
      case .handedOver: break
      case .named, .published: blobs.removeOrLeave(entry.reference.id)
      // Files that stay are removed at the next opening.
      case .written, .lost, .synchronized: try? blobs.removeTemporary(entry.reference.id)
      }
    }
    if isUnsettled { blobs.unsettledCount.subtract(1, ordering: .releasing) }
  }

  /// Writes a blob.
  ///
  /// - Throws: Any error that `body` throws, after removing the file.
  mutating func add(
    byteCount: Int?,
    _ body: (inout BlobWriter) throws -> Void
  ) throws -> BlobReference {
    if entries.count - firstUnsynchronized >= NewBlobs.openLimit { try synchronize() }
    let id = blobs.mint()
    do {
      var writer = try blobs.makeWriter(id, byteCount: byteCount)
      try body(&writer)
      let reference = try writer.finish()
      entries.append(Entry(reference: reference, stage: .written(writer.file)))
      return reference
    } catch {
      try? blobs.removeTemporary(id)
      throw error
    }
  }

  // MARK: Owners

  /// Gives a blob to a row.
  ///
  /// - Returns: `false` if the blob is not this batch's, or belongs to another row.
  mutating func own(_ reference: BlobReference) -> Bool {
    guard let index = index(of: reference.id), entries[index].reference == reference,
      !entries[index].isOwned
    else { return false }
    entries[index].isOwned = true
    return true
  }

  /// Forgets the owners, because the rows are about to be encoded anew.
  mutating func disown() {
    for index in entries.indices { entries[index].isOwned = false }
  }

  private func index(of id: BlobID) -> Int? {
    let index = entries.partitionPoint { $0.reference.id < id }
    return index < entries.count && entries[index].reference.id == id ? index : nil
  }

  // MARK: Publishing

  /// Makes every blob that a row owns part of the store.
  mutating func publish() throws(StorageError) {
    try synchronize()
    for index in entries.indices where entries[index].isOwned {
      guard case .synchronized = entries[index].stage else { continue }
      let id = entries[index].reference.id
      if !isUnsettled { blobs.unsettledCount.add(1, ordering: .acquiring) }
      isUnsettled = true
      try blobs.publish(id)
      entries[index].stage = .named
    }
    try synchronizeNames()
  }

  /// Synchronizes the directories of new names, including the names given by an earlier attempt.
  private mutating func synchronizeNames() throws(StorageError) {
    var named: [BlobID] = []
    for entry in entries {
      if case .named = entry.stage { named.append(entry.reference.id) }
    }
    try blobs.synchronizeNames(of: named)
    for index in entries.indices {
      if case .named = entries[index].stage { entries[index].stage = .published }
    }
  }

  /// Synchronizes the written files one after the other, and closes them.
  private mutating func synchronize() throws(StorageError) {
    for index in firstUnsynchronized..<entries.count {
      switch entries[index].stage {
      case .lost(let error): throw error
      case .written(let file):
        do throws(StorageError) {
          if blobs.synchronizes { try file.synchronize() }
          entries[index].stage = .synchronized
        } catch {
          entries[index].stage = .lost(error)
          throw error
        }
      case .synchronized, .named, .published, .handedOver: break
      }
      firstUnsynchronized = index + 1
    }
  }

  /// Hands the blobs that rows own over to a commit.
  mutating func handOver() {
    for index in entries.indices where entries[index].isOwned {
      entries[index].stage = .handedOver
    }
    if isUnsettled { blobs.unsettledCount.subtract(1, ordering: .releasing) }
    isUnsettled = false
  }
}
