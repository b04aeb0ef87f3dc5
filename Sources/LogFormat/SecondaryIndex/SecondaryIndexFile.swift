import RowFormat
import Synchronization

/// The file of a secondary index, open for reading: the directory is in memory, the blocks stay in the file.
///
/// A block is checked when it is first read. So opening costs only reading the directory, about a hundredth of the file; and
/// whatever a block contains, its entries ascend, and so do those of consecutive blocks.
package final class SecondaryIndexFile: Sendable {
  package let path: String
  package let header: SecondaryIndexHeader
  package let fileHeader: FileHeader
  /// The size of the file when it was opened, in bytes.
  package let byteCount: Int
  /// The file, if it is not mapped.
  private let file: (any OpenFile)?
  private let mapping: MappedFile?
  /// For each block its first entry, its offset, and its count and checksum in one word.
  private let directory: [UInt64]
  private let tables: [UInt16]?
  private let checks: CheckedBlocks
  private let damage = Atomic<Bool>(false)

  /// Opens a file, and reads everything but the blocks.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - store: The store that it must belong to; any, if `nil`.
  ///   - tables: The tables that its rows must belong to; any, if `nil`.
  ///   - reads: Whether blocks are read through a mapping.
  ///   - fileSystem: The file system of the file.
  /// - Throws: ``StorageError`` if it is not such a file, or cannot be read.
  package init(
    _ path: String,
    of store: StoreIdentifier?,
    tables: [UInt16]?,
    reads: ReadMethod,
    on fileSystem: any FileSystem
  ) throws(StorageError) {
    self.path = path
    self.tables = tables
    let file = try fileSystem.open(path, .read)
    byteCount = try file.size()
    (fileHeader, header) = try SecondaryIndexFiles.readHeader(of: file, path)
    guard fileHeader.store == store ?? fileHeader.store else {
      throw Self.damage(path, at: FileHeader.particularOffset, .missing(.secondaryIndex))
    }
    let wordCount = header.directoryByteCount / 8
    let words = try file.readWords(wordCount, at: header.directoryOffset)
    try Self.check(
      unsafe words.span.bytes,
      header.directoryByteCount,
      header.directoryChecksum,
      at: header.directoryOffset,
      fileHeader.seed,
      path
    )
    directory = UInt64(1).littleEndian == 1 ? words : words.map { UInt64(littleEndian: $0) }
    checks = CheckedBlocks(header.blockCount)
    var mapping: MappedFile?
    if reads == .mapped, UInt64(1).littleEndian == 1, header.blockCount > 0 {
      mapping = try file.map(byteCount, .sharedReadOnly)
      if let found = mapping, found.addresses.lowerBound % 8 != 0 { mapping = nil }
      mapping?.expect(.random)
    }
    self.mapping = mapping
    self.file = mapping == nil ? file : nil
    guard isDirectoryValid() else {
      throw Self.damage(path, at: header.directoryOffset, .missing(.secondaryIndex))
    }
  }

  package var wordCount: Int { header.wordCount }
  package var entryCount: Int { header.entryCount }
  package var blockCount: Int { header.blockCount }
  /// Whether a damaged block was found.
  package var isDamaged: Bool { damage.load(ordering: .relaxed) }

  /// Returns the number of entries in a block.
  package func count(ofBlock index: Int) -> Int {
    Int(truncatingIfNeeded: tally(of: index) & 0xFFFF_FFFF)
  }

  /// Returns the number of entries in consecutive blocks.
  ///
  /// - Complexity: O(blocks), a few instructions each.
  package func count(ofBlocks blocks: Range<Int>) -> Int {
    let directory = directory
    let words = directory.span
    let stride = header.directoryStride
    var place = blocks.lowerBound * stride + header.stride + 1
    var count = 0
    for _ in blocks {
      count &+= Int(truncatingIfNeeded: words[place] & 0xFFFF_FFFF)
      place += stride
    }
    return count
  }

  /// Returns a word of a block's first entry.
  package func firstWord(_ word: Int, ofBlock index: Int) -> UInt64 {
    directory[index * header.directoryStride + word]
  }

  /// Lends the entries of a block, word after word.
  ///
  /// - Throws: ``StorageError`` if it is damaged, or cannot be read; or any error that `body` throws.
  package func withBlock<R>(_ index: Int, _ body: (Span<UInt64>) throws -> R) throws -> R {
    let range = range(ofBlock: index)
    if let mapping {
      return try mapping.withBytes { bytes in
        let bytes = bytes.extracting(range)
        let words = Span<UInt64>(_bytes: bytes)
        if !checks.isChecked(index) { try check(index, bytes, words) }
        return try body(words)
      }
    }
    guard let file else { preconditionFailure("an index file is neither mapped nor open") }
    let bytes: ByteBuffer
    do {
      bytes = try file.readBytes(range.count, at: range.lowerBound)
    } catch {
      damage.store(true, ordering: .relaxed)
      throw error
    }
    let words = Self.words(of: bytes.bytes)
    try check(index, bytes.bytes, words.span)
    return try body(words.span)
  }

  /// Returns the rows of the entries whose keys begin with a word, in order.
  ///
  /// - Throws: ``StorageError`` if a block of these entries is damaged, or cannot be read.
  /// - Complexity: O(log *n*), and a block.
  package func rows(ofWord word: UInt64) throws -> [RowReference] {
    var rows: [RowReference] = []
    // The block before the first that begins with the word may end with it.
    var block = max(firstBlock(startingWith: word) - 1, 0)
    while block < blockCount, firstWord(0, ofBlock: block) <= word {
      try withBlock(block) { words in
        var entry = firstEntry(with: word, in: words)
        while entry < words.count, words[entry] == word {
          rows.append(RowReference(rawValue: words[entry + header.stride - 1]))
          entry += header.stride
        }
      }
      block += 1
    }
    return rows
  }

  /// Reads all blocks.
  ///
  /// - Throws: ``StorageError`` if a block is damaged, or cannot be read.
  package func verify() throws {
    for index in 0..<blockCount { try withBlock(index) { _ in } }
  }

  /// Returns the first block that begins with a word, or with a greater one.
  private func firstBlock(startingWith word: UInt64) -> Int {
    (0..<blockCount).partitionPoint { firstWord(0, ofBlock: $0) < word }
  }

  /// Returns the offset of the first entry of a block that begins with a word, or with a greater one.
  private func firstEntry(with word: UInt64, in words: Span<UInt64>) -> Int {
    let entries = 0..<words.count / header.stride
    return entries.partitionPoint { words[$0 * header.stride] < word } * header.stride
  }

  /// Appends the directory's words for a block.
  func appendDirectory(ofBlock index: Int, to buffer: inout ByteBuffer) {
    let start = index * header.directoryStride
    for word in start..<(start + header.directoryStride) { buffer.append(directory[word]) }
  }
}

// MARK: Checking

extension SecondaryIndexFile {
  private func tally(of index: Int) -> UInt64 {
    directory[index * header.directoryStride + header.stride + 1]
  }

  private func range(ofBlock index: Int) -> Range<Int> {
    let offset = Int(truncatingIfNeeded: directory[index * header.directoryStride + header.stride])
    return offset..<(offset + count(ofBlock: index) * header.stride * 8)
  }

  /// Whether each block is in the file, and begins behind the one before it.
  ///
  /// The first query after an opening waits for it: an index of five million entries has 26,000 blocks.
  private func isDirectoryValid() -> Bool {
    let (stride, directoryStride) = (header.stride, header.directoryStride)
    let start = UInt64(FileHeader.byteCount)
    guard byteCount >= FileHeader.byteCount else { return header.blockCount == 0 }
    let room = UInt64(byteCount) - start
    let limit = UInt64(SecondaryIndexHeader.blockLimit)
    var rest = Int64(header.entryCount)
    return unsafe directory.withUnsafeBufferPointer { words in
      guard var entry = words.baseAddress else { return rest == 0 }
      var previous = unsafe entry
      for index in 0..<header.blockCount {
        let offset = unsafe entry[stride]
        let count = unsafe entry[stride + 1] & 0xFFFF_FFFF
        let size = count &* UInt64(stride * 8)
        guard count &- 1 < limit, size <= room, offset & 7 == 0, offset >= start,
          offset &- start <= room &- size
        else { return false }
        rest &-= Int64(truncatingIfNeeded: count)
        if index > 0 {
          var word = 0
          while unsafe entry[word] == previous[word] {
            word += 1
            if word == stride { return false }
          }
          guard unsafe entry[word] > previous[word] else { return false }
        }
        unsafe previous = entry
        unsafe entry += directoryStride
      }
      return rest == 0
    }
  }

  /// Checks a block that has just been read.
  private func check(
    _ index: Int,
    _ bytes: RawSpan,
    _ words: Span<UInt64>
  ) throws(StorageError) {
    let offset = range(ofBlock: index).lowerBound
    do throws(StorageError) {
      try Self.check(
        bytes,
        range(ofBlock: index).count,
        UInt32(truncatingIfNeeded: tally(of: index) >> 32),
        at: offset,
        fileHeader.seed,
        path
      )
      guard areValid(words, index) else {
        throw Self.damage(path, at: offset, .missing(.secondaryIndex))
      }
    } catch {
      damage.store(true, ordering: .relaxed)
      throw error
    }
    checks.record(index)
  }

  /// Whether entries ascend from the block's first in the directory to the first of the next block.
  private func areValid(_ words: Span<UInt64>, _ index: Int) -> Bool {
    let stride = header.stride
    for word in 0..<stride where words[word] != firstWord(word, ofBlock: index) { return false }
    var entry = 0
    while true {
      let row = RowReference(rawValue: words[entry + stride - 1])
      guard row.key > 0, tables?.contains(row.table) != false else { return false }
      if entry + stride == words.count { break }
      guard Self.order(words, entry, entry + stride, stride) < 0 else { return false }
      entry += stride
    }
    guard index + 1 < blockCount else { return true }
    for word in 0..<stride {
      let own = words[entry + word]
      let next = firstWord(word, ofBlock: index + 1)
      if own != next { return own < next }
    }
    return false
  }

  /// Compares two runs of words; the sign of the result is their order.
  private static func order(_ words: Span<UInt64>, _ lhs: Int, _ rhs: Int, _ count: Int) -> Int {
    for word in 0..<count where words[lhs + word] != words[rhs + word] {
      return words[lhs + word] < words[rhs + word] ? -1 : 1
    }
    return 0
  }

  private static func check(
    _ bytes: RawSpan,
    _ byteCount: Int,
    _ checksum: UInt32,
    at offset: Int,
    _ seed: FrameSeed,
    _ path: String
  ) throws(StorageError) {
    let found = CRC32C.extend(seed.at(offset), over: bytes)
    guard bytes.byteCount == byteCount, found == checksum else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .secondaryIndex,
        expected: checksum,
        found: found
      )
      throw damage(path, at: offset, problem)
    }
  }

  private static func damage(
    _ path: String,
    at offset: Int,
    _ problem: Corruption.Problem
  ) -> StorageError {
    .corruption(Corruption(path: path, offset: offset, problem: problem))
  }

  private static func words(of bytes: RawSpan) -> [UInt64] {
    let wordCount = bytes.byteCount / 8
    return unsafe Array(unsafeUninitializedCapacity: wordCount) { words, count in
      unsafe bytes.extracting(0..<(wordCount * 8)).withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(words).copyMemory(from: bytes)
      }
      if UInt64(1).littleEndian != 1 {
        for word in 0..<wordCount { unsafe words[word] = unsafe UInt64(littleEndian: words[word]) }
      }
      count = wordCount
    }
  }
}
