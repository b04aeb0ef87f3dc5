import LogFormat

extension Follower {
  /// Returns the end of the log, as far as it was read, in a process that does not write.
  ///
  /// In one that does, this position is where the turn began that is in progress; see ``LogWriter/cut()``.
  func cut() throws(StorageError) -> LogCut {
    let files = ManifestFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      synchronizes: false
    )
    let manifest = try files.readNewest()
    return withPosition { position in
      let end = position.end
      var cut = LogCut(state, last: end.segment, end: end.offset, newBase: position.newBase)
      cut.application = manifest?.application ?? ""
      cut.lineage = manifest?.lineage
      return cut
    }
  }
}
