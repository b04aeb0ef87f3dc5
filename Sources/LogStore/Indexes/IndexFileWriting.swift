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
  ///   - header: What they are of, and as of which commit.
  /// - Throws: What reading and writing files throws, or ``DamagedIndexFile``; the file is then as it was.
  func write(_ keys: OrderedKeys, _ header: SecondaryIndexHeader) throws {
    if let former = keys.file, isWorthExtending(former, keys),
      !former.isDamaged, former.header.digest == header.digest,
      let file = files.open(former.fileHeader, header.digest.low)
    {
      if !keys.isChanged {
        let isCurrent =
          former.header.sequence == header.sequence && former.header.mark == header.mark
        return isCurrent ? () : try SecondaryIndexWriter.restamp(former, file, header)
      }
      var writer = try SecondaryIndexWriter(extending: former, file, header)
      try keys.forEachBlock { block in
        if block.isInFile {
          try writer.keepBlock(Int(block.fileBlock))
        } else {
          try writer.append(block.words.span)
        }
      }
      _ = try writer.finish()
      return
    }
    do {
      let file = try files.makeFile(header.digest.low)
      var writer = SecondaryIndexWriter(
        file,
        header,
        of: store,
        salt: files.fileSystem.randomBits(),
        created: files.fileSystem.microseconds()
      )
      try keys.forEachBlock { block in
        try unsafe keys.withWords(of: block) { words in try unsafe writer.append(words.span) }
      }
      _ = try writer.finish()
      try files.publish(header.digest.low)
    } catch {
      files.discard(header.digest.low)
      throw error
    }
  }

  /// Whether enough of a file stays, so that it does not grow beyond twice what it needs.
  private func isWorthExtending(_ former: SecondaryIndexFile, _ keys: OrderedKeys) -> Bool {
    var changedCount = 0
    keys.forEachBlockInMemory { changedCount += keys.size(of: $0) }
    let entryByteCount = (keys.wordCount + 1) * 8
    let needed = keys.count * entryByteCount
    return former.byteCount + changedCount * entryByteCount <= max(2 * needed, 64 << 10)
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
