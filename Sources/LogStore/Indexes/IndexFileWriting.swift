import LogEngine
import RowFormat

/// Writes the entries of an index to its file: what changed, if the rest is there already.
struct IndexFileWriting {
  let files: SecondaryIndexFiles
  let store: StoreIdentifier

  /// Writes entries.
  ///
  /// - Parameters:
  ///   - keys: The entries.
  ///   - header: The identity and the commit of the entries.
  /// - Returns: The number of bytes written.
  /// - Throws: What reading and writing files throws, or ``DamagedIndexFile``; the file is then as it was.
  func write(_ keys: OrderedKeys, _ header: SecondaryIndexHeader) throws -> Int {
    if let former = keys.file, !former.isDamaged, former.header.digest == header.digest,
      let file = files.open(former.fileHeader, header.digest.low),
      isWorthExtending(try file.size(), keys)
    {
      if !keys.isChanged, try file.size() == former.byteCount {
        return try files.restamp(file, former.fileHeader, former.header, header.stamp)
      }
      let start = try file.size()
      var writer = try SecondaryIndexWriter(extending: former, file, header)
      try keys.forEachBlock { block in
        if block.isInFile {
          try writer.keepBlock(Int(block.fileBlock))
        } else {
          try writer.append(block.words.span)
        }
      }
      return try writer.finish() - start
    }
    var byteCount = 0
    try files.makeFile(header.digest.low, of: store) { file, fileHeader in
      var writer = SecondaryIndexWriter(file, fileHeader, header)
      try keys.forEachBlock { block in
        try unsafe keys.withWords(of: block) { words in try unsafe writer.append(words.span) }
      }
      byteCount = try writer.finish()
    }
    return byteCount
  }

  /// Whether enough of a file of so many bytes stays, so that it does not grow beyond twice what it needs.
  private func isWorthExtending(_ byteCount: Int, _ keys: OrderedKeys) -> Bool {
    var changedCount = 0
    keys.forEachBlockInMemory { changedCount += keys.size(of: $0) }
    let entryByteCount = (keys.wordCount + 1) * 8
    let needed = keys.count * entryByteCount
    return byteCount + changedCount * entryByteCount <= max(2 * needed, 64 << 10)
  }
}

extension OrderedKeys {
  func forEachBlock(_ body: (Block) throws -> Void) rethrows {
    for group in groups { for block in group.blocks { try body(block) } }
  }

  fileprivate func forEachBlockInMemory(_ body: (Block) -> Void) {
    forEachBlock { if !$0.isInFile { body($0) } }
  }
}
