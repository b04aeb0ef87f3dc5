import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogFormat

/// Entries of an index, and the file that has them.
private struct IndexSample {
  let fileSystem = InMemoryFileSystem()
  let wordCount: Int
  /// The words of the entries, in order.
  var words: [UInt64]

  static let path = "/index.keys"
  static let store = StoreIdentifier(low: 1, high: 2)
  static let fileHeader = FileHeader(
    kind: .secondaryIndex,
    store: store,
    number: 8,
    salt: 10,
    created: 11
  )

  init(count: Int, wordCount: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.wordCount = wordCount
    let entries = (0..<count).map { number in
      // Many share their first words.
      (0..<wordCount).map { _ in UInt64.random(in: 0...7, using: &random) << 61 }
        + [RowReference(table: 3, key: UInt64(number + 1)).rawValue]
    }
    words = entries.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
  }

  var stride: Int { wordCount + 1 }

  func header(_ sequence: UInt64) -> SecondaryIndexHeader {
    SecondaryIndexHeader(
      IndexStamp(
        sequence: CommitSequence(sequence),
        mark: CommitMark(frame: 7, in: SegmentID(rawValue: 5), at: 4096),
        digest: .init(low: 8, high: 9)
      ),
      wordCount: wordCount
    )
  }

  /// Writes the file, so many entries in one call.
  func write(pieceCount: Int = 100) throws {
    let file = try fileSystem.open(Self.path, .create)
    var writer = SecondaryIndexWriter(file, Self.fileHeader, header(1))
    for start in Swift.stride(from: 0, to: words.count, by: pieceCount * stride) {
      try writer.append(words[start..<min(start + pieceCount * stride, words.count)].span)
    }
    #expect(try writer.finish() == fileSystem.size(of: Self.path))
  }

  func open(_ reads: ReadMethod = .mapped) throws -> SecondaryIndexFile {
    try SecondaryIndexFile(
      Self.path,
      of: Self.store,
      tables: [3],
      reads: reads,
      on: fileSystem
    )
  }

  func bytes() throws -> [UInt8] {
    let buffer = try fileSystem.open(Self.path, .read).readAll()
    return buffer.bytes.withUnsafeBytes { Array($0) }
  }

  func replace(_ bytes: [UInt8]) throws {
    try fileSystem.open(Self.path, .create).writeAll(bytes.span.bytes, at: 0)
  }

  /// All words of a file; what is read has to be in order.
  static func words(of file: SecondaryIndexFile) throws -> [UInt64] {
    var words: [UInt64] = []
    for index in 0..<file.blockCount {
      try file.withBlock(index) { block in
        #expect(block.count == file.count(ofBlock: index) * (file.wordCount + 1))
        for place in block.indices { words.append(block[place]) }
      }
    }
    return words
  }
}

@Suite struct `The file of a secondary index` {
  @Test(arguments: [0, 1, 255, 256, 257, 3000], 1...SecondaryIndexHeader.wordLimit)
  func `holds the entries that were written`(count: Int, wordCount: Int) throws {
    let sample = IndexSample(count: count, wordCount: wordCount, seed: UInt64(count))
    try sample.write()
    for reads in [ReadMethod.mapped, .copied] {
      let file = try sample.open(reads)
      #expect(file.entryCount == count)
      #expect(file.header.sequence == CommitSequence(1))
      #expect(try IndexSample.words(of: file) == sample.words)
    }
  }

  @Test func `is extended by what changed, and is the former file until that is whole`() throws {
    let stride = 3
    var sample = IndexSample(count: 2000, wordCount: 2, seed: 1)
    try sample.write()
    let former = try sample.open()
    let before = try sample.bytes()
    let formerWords = sample.words
    let file = try sample.fileSystem.open(IndexSample.path, .write)
    var writer = try SecondaryIndexWriter(extending: former, file, sample.header(2))
    sample.words = []
    var start = 0
    for index in 0..<former.blockCount {
      let end = start + former.count(ofBlock: index) * stride
      var block = Array(formerWords[start..<end])
      start = end
      if index % 3 == 1 {
        // Every second entry goes; of the last such block, all.
        block = (0..<(block.count / stride)).filter { $0 % 2 == 0 && index < 6 }
          .flatMap { block[($0 * stride)..<(($0 + 1) * stride)] }
        try writer.append(block.span)
      } else {
        try writer.keepBlock(index)
      }
      sample.words += block
    }
    // Without the header, which comes last, nothing has happened.
    _ = try writer.finish()
    let after = try sample.bytes()
    #expect(after.count < before.count * 3 / 2)
    try sample.replace(Array(before[..<4096] + after[4096...]))
    #expect(try IndexSample.words(of: sample.open()) == formerWords)
    try sample.replace(after)
    let extended = try sample.open()
    #expect(extended.header.sequence == CommitSequence(2))
    #expect(try IndexSample.words(of: extended) == sample.words)
    #expect(try IndexSample.words(of: former) == formerWords)
  }

  @Test func `is refused, or says what was written, with any byte changed`() throws {
    let sample = IndexSample(count: 300, wordCount: 1, seed: 2)
    try sample.write()
    let bytes = try sample.bytes()
    var random = SeededGenerator(seed: 3)
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= UInt8.random(in: 1...255, using: &random)
      try sample.replace(damaged)
      #expect(throws: StorageError.self, "byte \(place)") {
        let file = try sample.open(place % 2 == 0 ? .mapped : .copied)
        _ = try IndexSample.words(of: file)
      }
    }
  }

  @Test func `the file of a secondary index is refused when it is cut`() throws {
    let sample = IndexSample(count: 300, wordCount: 1, seed: 4)
    try sample.write()
    let bytes = try sample.bytes()
    for count in bytes.indices {
      try sample.replace(Array(bytes[..<count]))
      #expect(throws: StorageError.self, "\(count) bytes") {
        _ = try IndexSample.words(of: sample.open())
      }
    }
  }

  @Test func `is refused by another store, and with rows of other tables`() throws {
    let sample = IndexSample(count: 300, wordCount: 1, seed: 5)
    try sample.write()
    #expect(throws: StorageError.self) {
      try SecondaryIndexFile(
        IndexSample.path,
        of: StoreIdentifier(low: 3, high: 4),
        tables: nil,
        reads: .mapped,
        on: sample.fileSystem
      )
    }
    let foreign = try SecondaryIndexFile(
      IndexSample.path,
      of: nil,
      tables: [4],
      reads: .mapped,
      on: sample.fileSystem
    )
    #expect(!foreign.isDamaged)
    #expect(throws: StorageError.self) { try foreign.verify() }
    #expect(foreign.isDamaged)
  }

  @Test(arguments: 1...SecondaryIndexHeader.wordLimit)
  func `with a block that is longer than the file, under right checksums, is refused`(
    wordCount: Int
  ) throws {
    let sample = IndexSample(count: 4, wordCount: wordCount, seed: 3)
    try sample.write()
    let file = try sample.open()
    var header = file.header
    header.entryCount = SecondaryIndexHeader.blockLimit
    let directory = DamagedBytes { buffer in
      for word in sample.words[..<sample.stride] { buffer.append(word) }
      buffer.append(UInt64(FileHeader.byteCount))
      buffer.append(UInt32(SecondaryIndexHeader.blockLimit))
      buffer.append(0 as UInt32)
    }
    header.directoryChecksum = CRC32C.extend(
      file.fileHeader.seed.at(header.directoryOffset),
      over: directory.bytes.span.bytes
    )
    let first = DamagedBytes { header.encode(file.fileHeader, into: &$0) }
    let blocks = try sample.bytes()[FileHeader.byteCount..<header.directoryOffset]
    try sample.replace(first.bytes + blocks + directory.bytes)
    #expect(throws: StorageError.self) { try sample.open() }
  }

  @Test func `may say anything under right checksums, and is read in order or refused`() throws {
    let seed: UInt64 = 6
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for round in 0..<4000 {
      let sample = IndexSample(count: 40, wordCount: 1, seed: seed)
      var forged = ForgedIndex(sample)
      forged.change(using: &random)
      try sample.replace(forged.sealed())
      do {
        let words = try IndexSample.words(of: sample.open(round % 2 == 0 ? .mapped : .copied))
        let entries = Swift.stride(from: 0, to: words.count, by: 2).map {
          [words[$0], words[$0 + 1]]
        }
        for (entry, next) in zip(entries, entries.dropFirst()) {
          #expect(entry.lexicographicallyPrecedes(next), "seed \(seed), round \(round)")
        }
      } catch is StorageError {
        refused += 1
      }
    }
    #expect(refused > 1000, "seed \(seed)")
  }
}

/// A file of several small blocks whose every field can be changed before it gets its checksums.
private struct ForgedIndex {
  private var header: [UInt64]
  private var directory: [[UInt64]]
  private var blocks: [[UInt64]]
  private let fileHeader = IndexSample.fileHeader

  init(_ sample: IndexSample) {
    blocks = Swift.stride(from: 0, to: sample.words.count, by: 20).map {
      Array(sample.words[$0..<min($0 + 20, sample.words.count)])
    }
    var offset = FileHeader.byteCount
    directory = blocks.map { block in
      defer { offset += block.count * 8 }
      return [block[0], block[1], UInt64(offset), UInt64(block.count / 2)]
    }
    // Sequence, mark, digest, word count and checksum, directory's offset, blocks, entries, and where the mark is.
    header = [
      1, 7, 8, 9, 1, UInt64(offset), UInt64(blocks.count), UInt64(sample.words.count / 2), 5, 4096,
    ]
  }

  mutating func change(using random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let place = Int.random(in: 4..<header.count, using: &random)
        Self.change(&header[place], using: &random)
      case 1:
        let block = Int.random(in: 0..<directory.count, using: &random)
        let place = Int.random(in: 0..<4, using: &random)
        Self.change(&directory[block][place], using: &random)
      default:
        let block = Int.random(in: 0..<blocks.count, using: &random)
        let place = Int.random(in: 0..<blocks[block].count, using: &random)
        Self.change(&blocks[block][place], using: &random)
      }
    }
  }

  private static func change(_ word: inout UInt64, using random: inout SeededGenerator) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: word &+= UInt64.random(in: 0...9, using: &random)
    case 1: word &-= UInt64.random(in: 0...9, using: &random)
    case 2:
      word = [0, 8, .max, UInt64(Int64.max), 1 << 32, 1 << 61].randomElement(using: &random) ?? 0
    default: word ^= 1 << UInt64.random(in: 0...63, using: &random)
    }
  }

  func sealed() -> [UInt8] {
    let seed = fileHeader.seed
    let body = DamagedBytes { buffer in
      for block in blocks { for word in block { buffer.append(word) } }
    }
    let start = FileHeader.byteCount
    let directory = DamagedBytes { buffer in
      for entry in self.directory {
        for word in entry[..<3] { buffer.append(word) }
        buffer.append(UInt32(truncatingIfNeeded: entry[3]))
        let offset = Int(truncatingIfNeeded: entry[2])
        let count = Int(truncatingIfNeeded: entry[3] & 0xFFFF) * 16
        if offset >= start, offset <= start + body.bytes.count,
          count <= start + body.bytes.count - offset
        {
          let part = Array(body.bytes[(offset - start)..<(offset - start + count)])
          buffer.append(CRC32C.extend(seed.at(offset), over: part.span.bytes))
        } else {
          buffer.append(0 as UInt32)
        }
      }
    }
    let place = Int(truncatingIfNeeded: header[5])
    let first = DamagedBytes { buffer in
      fileHeader.encode(into: &buffer) { buffer in
        for word in header[..<4] { buffer.append(word) }
        buffer.append(UInt32(truncatingIfNeeded: header[4]))
        buffer.append(CRC32C.extend(seed.at(place), over: directory.bytes.span.bytes))
        for word in header[5...] { buffer.append(word) }
      }
    }
    return first.bytes + body.bytes + directory.bytes
  }
}
