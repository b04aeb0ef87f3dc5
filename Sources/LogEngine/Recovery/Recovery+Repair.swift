import LogFormat
import RowFormat
import Synchronization

extension Recovery {
  /// Makes a log that was not closed safe for a writer to build on.
  ///
  /// The log as read may be only in the system's memory: after a failed synchronization that serves bytes it will never write.
  /// So they are rewritten and synchronized before the first new commit can depend on them.
  func repair(_ end: End) throws(StorageError) {
    try emptyTemporaryDirectory()
    try state.removeRetiredFiles(behind: manifest.base)
    for id in end.unfinished { try state.fileSystem.unlink(state.paths.segment(id)) }
    guard !end.isClean, let segment = end.segment else { return }
    try keepTornBytes(of: segment, from: end.offset, to: end.tornEnd)
    // Including the header: a segment whose header was never synchronized has lost its frames after a power cut.
    var offset = 0
    if end.durableEnd > segment.header.logPosition {
      offset = min(segment.offset(of: end.durableEnd), end.offset)
    }
    while offset < end.offset {
      let count = min(1 << 20, end.offset - offset)
      let bytes = try segment.file.readBytes(count, at: offset)
      try bytes.write(to: segment.file, at: offset)
      offset += bytes.count
    }
    try segment.file.synchronize()
  }

  /// Removes files that were under construction.
  ///
  /// Some file systems take as long to remove a segment as the whole opening takes: the background does that, if there is one;
  /// see ``Housekeeper/removeRemains()``.
  private func emptyTemporaryDirectory() throws(StorageError) {
    let segment = "segment"
    var hasSegment = false
    for name in try state.fileSystem.list(state.paths.temporary) ?? []
    where state.paths.isOwnName(name, in: state.paths.temporary) {
      if name == segment, state.options.background == .ownThread {
        hasSegment = true
      } else {
        try state.fileSystem.unlink(state.paths.temporary(name))
      }
    }
    guard hasSegment else { return }
    try state.fileSystem.rename(state.paths.temporary(segment), to: state.paths.remains)
    state.hasRemains.store(true, ordering: .relaxed)
  }

  /// Keeps the bytes of a torn commit until the next opening, for inspection.
  ///
  /// A full device does not prevent the store from being opened, perhaps to make room in it: the bytes also stay in place until
  /// their segment is packed.
  private func keepTornBytes(
    of segment: Segment,
    from start: Int,
    to end: Int
  ) throws(StorageError) {
    guard end > start else { return }
    let bytes = try segment.file.readBytes(min(end - start, 1 << 20), at: start)
    let name = "torn-\(hexadecimal(UInt64(segment.id.rawValue), digits: 16))-\(start)"
    let path = state.paths.temporary(name)
    do throws(StorageError) {
      try bytes.write(to: try state.fileSystem.open(path, .create), at: 0)
    } catch {
      guard case .noSpace = error else { throw error }
      try state.fileSystem.unlink(path)
    }
  }
}
