import LogFormat
import RowFormat

/// Copies a store as of one commit, while commits continue.
///
/// 1. Synchronize the log and note its end: nothing before that place changes any more.
/// 2. Give every blob of a row a second name in the copy, or copy it.
/// 3. Give every sealed segment a second name in the copy: its bytes never change. If the file system has no hard links, copy
///    the segments.
/// 4. Copy the last segment up to the noted place: the original is still appended to.
/// 5. Copy the newest checkpoint that holds nothing after that place, if there is one.
/// 6. Synchronize files and directories.
/// 7. Read the log of the copy: it must end with the commit that was meant.
/// 8. Publish a manifest, which makes the copy a store, and read it. A crash before that leaves files that are not taken for a
///    store.
///
/// A file with a second name must never be overwritten: a segment that is no longer needed may be removed, but not reused.
package struct Backup {
  let state: StoreState
  let destination: StorePaths
  let cut: LogCut
  let progress: (MaintenanceProgress) -> Void
  let lineage: StoreIdentifier
  var fileSystem: any FileSystem { state.fileSystem }

  init(
    _ state: StoreState,
    to destination: String,
    cut: LogCut,
    progress: @escaping (MaintenanceProgress) -> Void
  ) {
    self.state = state
    self.destination = StorePaths(root: destination)
    self.cut = cut
    self.progress = progress
    lineage = StoreIdentifier(
      low: state.fileSystem.randomBits(),
      high: state.fileSystem.randomBits()
    )
  }

  func run() throws(StorageError) {
    let isNew = try fileSystem.list(destination.root) == nil
    do throws(StorageError) {
      try makeDirectories()
      // First, since a writer in another process may remove them.
      try copyBlobs()
      try copyPacks()
      try copySegments()
      try copyCheckpoint()
      try fileSystem.synchronizeDirectory(destination.log)
      try fileSystem.synchronizeDirectory(destination.packs)
      try fileSystem.synchronizeDirectory(destination.root)
      try fileSystem.synchronizeDirectory(destination.parent)
      try checkLog()
      try checkManifest(try publishManifest())
    } catch {
      removeFiles()
      if isNew { try? fileSystem.removeDirectory(destination.root) }
      throw error
    }
  }

  /// Rejects a destination that is in use; directories without files, left by a failed copy, are accepted.
  package static func check(
    _ destination: String,
    on fileSystem: any FileSystem
  ) throws(StorageError) {
    let paths = StorePaths(root: destination)
    guard let names = try fileSystem.list(destination) else {
      guard try fileSystem.size(of: destination) == nil else {
        throw .destinationExists(path: destination)
      }
      return
    }
    for name in names {
      let path = destination + "/" + name
      var isEmpty = false
      if path == paths.blobs {
        isEmpty = try Blobs.isEmpty(paths, fileSystem)
      } else if paths.directories.contains(path) {
        isEmpty = try fileSystem.list(path)?.isEmpty == true
      }
      if !isEmpty { throw .destinationExists(path: destination) }
    }
  }
}

// MARK: Files

extension Backup {
  private func makeDirectories() throws(StorageError) {
    try destination.makeRoot(on: fileSystem)
    for directory in destination.directories { try fileSystem.makeDirectory(directory) }
  }

  private func copySegments() throws(StorageError) {
    let total = cut.segments.reduce(0) { $0 + $1.end }
    var done = 0
    for (index, (segment, end)) in cut.segments.enumerated() {
      progress(MaintenanceProgress(phase: .copying, completed: done, total: total))
      let isLast = index == cut.segments.count - 1
      let isLinked = isLast ? false : try link(segment)
      if !isLinked {
        try copy(segment, upTo: end) { count in
          progress(MaintenanceProgress(phase: .copying, completed: done + count, total: total))
        }
      }
      done += end
    }
    progress(MaintenanceProgress(phase: .copying, completed: total, total: total))
  }

  /// Links or copies the packs; like sealed segments, they never change.
  private func copyPacks() throws(StorageError) {
    for pack in cut.packs {
      let path = destination.pack(pack.id)
      do throws(StorageError) {
        if try fileSystem.link(pack.path, as: path) { continue }
      } catch .missingFile {
        // The file has lost its name because it is no longer needed; it is still open.
      }
      let copy = try fileSystem.open(path, .create)
      try pack.file.copy(0..<pack.summary.byteCount, to: copy, .pack)
      try copy.synchronize()
    }
  }

  private func link(_ segment: Segment) throws(StorageError) -> Bool {
    do throws(StorageError) {
      return try fileSystem.link(segment.path, as: destination.segment(segment.id))
    } catch .missingFile {
      // The file has lost its name because it is no longer needed; it is still open.
      return false
    }
  }

  private func copy(
    _ segment: Segment,
    upTo end: Int,
    _ progress: (Int) -> Void
  ) throws(StorageError) {
    let copy = try fileSystem.open(destination.segment(segment.id), .create)
    try segment.file.copy(0..<end, to: copy, .segment, progress)
    try copy.synchronize()
  }

  /// Publishes the copy's first manifest, which makes the copy a store.
  private func publishManifest() throws(StorageError) -> Manifest {
    var manifest = Manifest(
      number: 1,
      store: state.store,
      lineage: lineage
    )
    manifest.application = cut.application
    manifest.epoch = cut.segments.last?.segment.header.epoch ?? 0
    let packs = cut.packs.map { SegmentID(rawValue: $0.id.rawValue) }
    manifest.nextSegment = ([cut.segments.last?.segment.id ?? .none] + packs).max()?.next ?? .none
    manifest.base = cut.base
    manifest.durableEnd = cut.logPosition
    manifest.sequence = cut.sequence
    manifest.catalogue = cut.catalogue
    manifest.nextBlob = state.files.blobs.nextID
    manifest.segments = cut.segments.map { Manifest.SegmentEnd(id: $0.segment.id, end: $0.end) }
    let files = ManifestFiles(paths: destination, fileSystem: fileSystem, synchronizes: true)
    try files.publish(manifest)
    return manifest
  }

  /// Removes a copy that failed, so that it can be tried again and its folders are not taken for a copy; a file that cannot be
  /// removed stays.
  private func removeFiles() {
    var paths = [destination.manifest(1)]
    for directory in destination.directories + destination.blobDirectories {
      let names = (try? fileSystem.list(directory)) ?? []
      paths += names.map { directory + "/" + $0 }
    }
    for path in paths { try? fileSystem.unlink(path) }
    for directory in destination.blobDirectories + [destination.blobs] + destination.directories {
      try? fileSystem.removeDirectory(directory)
    }
  }
}
