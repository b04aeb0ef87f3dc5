import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogFormat

/// Runs and pending rows, and the file that has them.
private struct WordSample {
  let fileSystem = InMemoryFileSystem()
  var runs: [[UInt8]]
  var pending: [UInt64]

  static let path = "/index.words"
  static let store = StoreIdentifier(low: 1, high: 2)
  static let fileHeader = FileHeader(
    kind: .wordIndex,
    store: store,
    number: 8,
    salt: 10,
    created: 11
  )

  init(runCount: Int, pendingCount: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    runs = (0..<runCount).map { _ in
      (0..<Int.random(in: 0..<90, using: &random)).map { _ in .random(in: 0...255, using: &random) }
    }
    pending = (0..<pendingCount).map { UInt64($0 * 3 + 1) }
  }

  static func header(_ sequence: UInt64) -> WordIndexHeader {
    WordIndexHeader(
      IndexStamp(
        sequence: CommitSequence(sequence),
        mark: CommitMark(frame: 7, in: SegmentID(rawValue: 5), at: 4096),
        digest: .init(low: 8, high: 9)
      )
    )
  }

  func write() throws {
    let file = try fileSystem.open(Self.path, .create)
    var writer = WordIndexWriter(file, Self.fileHeader, Self.header(1))
    for run in runs { try writer.append(run.span.bytes) }
    try writer.finish(pending: pending)
  }

  func open() throws -> WordIndexFile {
    try WordIndexFile(Self.path, of: Self.store, on: fileSystem)
  }

  /// Whether the file says what was written.
  func isRead() throws -> Bool {
    let file = try open()
    let found = try file.entries.map { try file.readRun($0) }
    return found == runs && file.pending == pending
  }

  func bytes() throws -> [UInt8] {
    let buffer = try fileSystem.open(Self.path, .read).readAll()
    return buffer.bytes.withUnsafeBytes { Array($0) }
  }

  func replace(_ bytes: [UInt8]) throws {
    try fileSystem.open(Self.path, .create).writeAll(bytes.span.bytes, at: 0)
  }
}

@Suite struct `The file of an index of words` {
  @Test(arguments: [(0, 0), (0, 3), (1, 0), (7, 2)])
  func `has the runs and the pending rows`(runCount: Int, pendingCount: Int) throws {
    let sample = WordSample(runCount: runCount, pendingCount: pendingCount, seed: 1)
    try sample.write()
    #expect(try sample.isRead())
    try sample.open().verify()
    #expect(throws: StorageError.self) {
      try WordIndexFile(
        WordSample.path,
        of: StoreIdentifier(low: 2, high: 2),
        on: sample.fileSystem
      )
    }
  }

  @Test func `keeps runs in their place when it is extended`() throws {
    var sample = WordSample(runCount: 4, pendingCount: 3, seed: 2)
    try sample.write()
    let before = try sample.bytes()
    let former = try sample.open()
    let formerRuns = sample.runs
    let file = try sample.fileSystem.open(WordSample.path, .write)
    var writer = try WordIndexWriter(extending: former, file, WordSample.header(2))
    for place in [0, 2] { writer.keep(former.entries[place]) }
    let added: [UInt8] = [1, 2, 3]
    try writer.append(added.span.bytes)
    try writer.finish(pending: [5])
    let after = try sample.bytes()
    // Without the header, which comes last, nothing has happened.
    try sample.replace(Array(before[..<4096] + after[4096...]))
    #expect(try sample.isRead())
    try sample.replace(after)
    (sample.runs, sample.pending) = ([formerRuns[0], formerRuns[2], added], [5])
    #expect(try sample.isRead())
    #expect(try sample.open().header.sequence == CommitSequence(2))
    #expect(
      after[4096..<former.header.directoryOffset] == before[4096..<former.header.directoryOffset]
    )
    for (entry, run) in zip(former.entries, formerRuns) {
      #expect(try former.readRun(entry) == run)
    }
  }

  @Test func `is as of a later commit once it is stamped so`() throws {
    let sample = WordSample(runCount: 2, pendingCount: 2, seed: 2)
    try sample.write()
    let (former, stamp) = (try sample.open(), WordSample.header(9).stamp)
    _ = try WordIndexFiles(paths: StorePaths(root: "/"), fileSystem: sample.fileSystem).restamp(
      sample.fileSystem.open(WordSample.path, .write),
      former.fileHeader,
      former.header,
      stamp
    )
    #expect(try sample.isRead())
    #expect(try sample.open().header.stamp == stamp)
  }

  @Test func `is refused, or says what was written, with any byte changed`() throws {
    let sample = WordSample(runCount: 5, pendingCount: 4, seed: 3)
    try sample.write()
    let bytes = try sample.bytes()
    var refused = 0
    var random = SeededGenerator(seed: 3)
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= .random(in: 1...255, using: &random)
      try sample.replace(damaged)
      do {
        #expect(try sample.isRead(), "byte \(place)")
      } catch is StorageError {
        refused += 1
      }
    }
    // All but what is between the runs.
    #expect(refused > bytes.count - 40)
  }

  @Test func `is refused if it ends early`() throws {
    let sample = WordSample(runCount: 5, pendingCount: 4, seed: 4)
    try sample.write()
    let bytes = try sample.bytes()
    for count in bytes.indices {
      try sample.replace(Array(bytes[..<count]))
      #expect(throws: StorageError.self) { try sample.isRead() }
    }
  }

  /// Each field of the header and the directory in turn, under right checksums.
  @Test(arguments: [0, 1, 7, 8, 4096, 1 << 16, 1 << 32, UInt64(Int64.max), .max] as [UInt64])
  func `may say anything under right checksums, and is read in bounds or refused`(
    word: UInt64
  ) throws {
    let sample = WordSample(runCount: 3, pendingCount: 2, seed: 5)
    try sample.write()
    let bytes = try sample.bytes()
    let file = try sample.open()
    let start = file.header.directoryOffset
    for place in [104, 112, 120] + Array(Swift.stride(from: start, to: bytes.count, by: 8)) {
      var forged = bytes
      // The checksum of the directory shares the number of runs' eight bytes.
      let size = place == 104 ? 4 : 8
      for byte in 0..<size { forged[place + byte] = UInt8(truncatingIfNeeded: word >> (8 * byte)) }
      let seed = file.fileHeader.seed
      for entry in 0..<3 where place >= start {
        let offset = Self.load(forged, start + 24 * entry)
        let count = Self.load(forged, start + 24 * entry + 8)
        guard offset <= forged.count, count <= forged.count - Int(offset) else { continue }
        let run = forged[Int(offset)..<Int(offset + count)]
        Self.store(
          Self.checksum(run, seed.at(Int(offset))),
          in: &forged,
          at: start + 24 * entry + 16
        )
      }
      Self.store(Self.checksum(forged[start...], seed.at(start)), in: &forged, at: 108)
      Self.store(Self.checksum(forged[..<4092], 0), in: &forged, at: 4092)
      try sample.replace(forged)
      do {
        try sample.open().verify()
      } catch is StorageError {}
    }
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>, _ seed: UInt32) -> UInt32 {
    let bytes = Array(bytes)
    return CRC32C.extend(seed, over: bytes.span.bytes)
  }

  private static func load(_ bytes: [UInt8], _ place: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[place + $1]) << (8 * UInt64($1)) }
  }

  private static func store(_ value: UInt32, in bytes: inout [UInt8], at place: Int) {
    for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
  }
}
