import LogFormat

extension Follower {
  /// Returns the end of the log, as far as it was read.
  func cut() throws(StorageError) -> LogCut {
    let files = ManifestFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      synchronizes: false
    )
    let manifest = try files.readNewest()
    return withEnd { end in
      var cut = LogCut(state, last: end.segment, end: end.offset)
      cut.application = manifest?.application ?? ""
      cut.lineage = manifest?.lineage
      return cut
    }
  }
}
