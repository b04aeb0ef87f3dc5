import LogEngine
import RowFormat

/// Writes the words of an index to its file: the runs that are not there yet, if most of what is there is still needed.
struct WordFileWriting {
  let files: WordIndexFiles
  let store: StoreIdentifier

  /// Writes words.
  ///
  /// - Parameters:
  ///   - words: The words.
  ///   - stamp: The identity and the commit of the entries.
  /// - Returns: The number of bytes written.
  /// - Throws: What writing files throws; the file is then as it was.
  func write(_ words: IndexedWords, _ stamp: IndexStamp) throws -> Int {
    let header = WordIndexHeader(stamp)
    if let former = words.file, former.header.digest == stamp.digest,
      let file = files.open(former.fileHeader, stamp.digest.low),
      isWorthExtending(try file.size(), words)
    {
      let start = try file.size()
      if !words.isChanged, start == former.byteCount {
        return try files.restamp(file, former.fileHeader, former.header, stamp)
      }
      var writer = try WordIndexWriter(extending: former, file, header)
      for run in words.runs {
        if let entry = run.entry {
          writer.keep(entry)
        } else {
          try unsafe writer.append(run.bytes.span.bytes)
        }
      }
      return try writer.finish(pending: words.pending.sorted()) - start
    }
    var byteCount = 0
    try files.makeFile(stamp.digest.low, of: store) { file, fileHeader in
      var writer = WordIndexWriter(file, fileHeader, header)
      for run in words.runs { try unsafe writer.append(run.bytes.span.bytes) }
      byteCount = try writer.finish(pending: words.pending.sorted())
    }
    return byteCount
  }

  /// Whether enough of a file of so many bytes stays, so that it does not grow beyond twice what it needs.
  private func isWorthExtending(_ byteCount: Int, _ words: IndexedWords) -> Bool {
    let directorySize = 8 * words.pending.count
    let needed = words.runs.reduce(directorySize) { $0 + $1.bytes.count }
    let added = words.runs.reduce(directorySize) { $0 + ($1.entry == nil ? $1.bytes.count : 0) }
    return byteCount + added <= max(2 * needed, 64 << 10)
  }
}
