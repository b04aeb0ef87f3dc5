import LogEngine
import ModelRuntime
import RowFormat

/// The words of some rows' texts, and the rows that each is in: an inverted file, which never changes.
///
///     offset  size        field
///     0       4           rows
///     4       4           words
///     8       8           words of all texts together, each time they occur, 65,535 of each text at most
///     16      4           opaque rows
///     20      4           bytes of the vocabulary
///     24      4           bytes of the postings
///     28      4           zero
///     32      8 × rows    keys of the rows, ascending
///             2 × rows    words of each row's text, 65,535 at most
///             4 × opaque  numbers of the rows whose words do not tell all, ascending
///             4 × words   where each word begins in the vocabulary, and one more: its end
///             4 × words   where the postings of each word begin, and one more: their end
///             …           the vocabulary: the words in the order of their bytes, a zero before each and behind the last
///             …           the postings
///
/// All numbers are little-endian. The postings of a word are varints: how many rows it is in; then for each row the
/// distance of its number from the last one's (of the first, from −1), minus one and doubled, plus one if the word is in
/// it several times; if so, how often.
struct WordRun: Sendable {
  let bytes: [UInt8]
  /// The place of the run in the index's file; `nil` if it is in none.
  var entry: WordIndexEntry?
  let rowCount: Int
  let wordCount: Int
  /// Number of words of all texts together, of each as many as ``length(ofRow:)`` says.
  private(set) var length = 0
  /// Number of texts that have words.
  private(set) var textCount = 0
  private let opaqueCount: Int

  // The offsets of the parts.
  private let lengths: Int
  private let opaque: Int
  private let wordStarts: Int
  private let postingStarts: Int
  private let vocabulary: Range<Int>
  private let postings: Int

  static let headerByteCount = 32

  /// - Returns: `nil` for bytes that are no run: none that is accepted is ever read out of bounds.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= WordRun.headerByteCount else { return nil }
    let span = unsafe bytes.span.bytes
    rowCount = Int(span.load(UInt32.self, at: 0))
    wordCount = Int(span.load(UInt32.self, at: 4))
    opaqueCount = Int(span.load(UInt32.self, at: 16))
    lengths = WordRun.headerByteCount + 8 * rowCount
    opaque = lengths + 2 * rowCount
    wordStarts = opaque + 4 * opaqueCount
    postingStarts = wordStarts + 4 * (wordCount + 1)
    let start = postingStarts + 4 * (wordCount + 1)
    let end = start + Int(span.load(UInt32.self, at: 20))
    vocabulary = start..<end
    postings = end
    let postingByteCount = Int(span.load(UInt32.self, at: 24))
    guard opaqueCount <= rowCount, end + postingByteCount == bytes.count else { return nil }
    self.bytes = bytes
    guard isSound(postingByteCount) else { return nil }
    // What is counted row by row can be taken off row by row.
    for row in 0..<rowCount {
      let count = length(ofRow: row)
      length += count
      if count > 0 { textCount += 1 }
    }
  }

  /// Whether the parts agree with each other.
  private func isSound(_ postingByteCount: Int) -> Bool {
    let span = unsafe bytes.span.bytes
    for row in 1..<max(rowCount, 1) where rowKey(row - 1) >= rowKey(row) { return false }
    if rowCount > 0, rowKey(0) == 0 || rowKey(rowCount - 1) > RowReference.maximumKey {
      return false
    }
    var last = -1
    for place in 0..<opaqueCount {
      let row = opaqueRow(place)
      guard row > last, row < rowCount else { return false }
      last = row
    }
    guard !vocabulary.isEmpty, wordStart(0) == 1, wordStart(wordCount) == vocabulary.count,
      postingStart(0) == 0,
      postingStart(wordCount) == postingByteCount,
      span.load(UInt8.self, at: vocabulary.lowerBound) == 0
    else { return false }
    for word in 0..<wordCount {
      guard wordStart(word) < wordStart(word + 1), wordStart(word + 1) <= vocabulary.count,
        postingStart(word) < postingStart(word + 1),
        span.load(UInt8.self, at: vocabulary.lowerBound + wordStart(word + 1) - 1) == 0
      else { return false }
    }
    return true
  }

  private func load<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> Int {
    Int(truncatingIfNeeded: unsafe bytes.span.bytes.load(T.self, at: offset))
  }

  // MARK: Rows

  /// The key of a row, by number.
  func rowKey(_ row: Int) -> UInt64 {
    UInt64(bitPattern: Int64(load(UInt64.self, at: WordRun.headerByteCount + 8 * row)))
  }

  /// Number of words in a row's text, 65,535 at most.
  func length(ofRow row: Int) -> Int { load(UInt16.self, at: lengths + 2 * row) }

  /// The number of the row with a key; `nil` if the run has no such row.
  func row(ofKey key: UInt64) -> Int? {
    let row = (0..<rowCount).partitionPoint { rowKey($0) < key }
    return row < rowCount && rowKey(row) == key ? row : nil
  }

  /// The rows whose words do not tell all that their texts contain, ascending.
  var opaqueRows: [UInt32] { (0..<opaqueCount).map { UInt32(opaqueRow($0)) } }

  private func opaqueRow(_ place: Int) -> Int {
    load(UInt32.self, at: opaque + 4 * place)
  }

  // MARK: Words

  private func wordStart(_ word: Int) -> Int {
    load(UInt32.self, at: wordStarts + 4 * word)
  }

  private func postingStart(_ word: Int) -> Int {
    load(UInt32.self, at: postingStarts + 4 * word)
  }

  /// The range of a word among the bytes, without the zero behind it.
  private func range(ofWord word: Int) -> Range<Int> {
    vocabulary.lowerBound + wordStart(word)..<vocabulary.lowerBound + wordStart(word + 1) - 1
  }

  /// Lends a word.
  func withWord<R>(_ word: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    try unsafe body(bytes.span.bytes.extracting(range(ofWord: word)))
  }

  /// The numbers of the words that a piece of a pattern may be in.
  ///
  /// - Complexity: O(log words) for the beginning of words; else O(vocabulary), at a gigabyte a second.
  func words(_ piece: WordPattern.Piece) -> [Int] {
    let wanted = unsafe piece.bytes.span.bytes
    if piece.isBegun {
      let first = firstWord { $0.isBefore(wanted) }
      if piece.isEnded {
        guard first < wordCount, withWord(first, { $0.isEqual(wanted) }) else { return [] }
        return [first]
      }
      let end = firstWord { $0.isBefore(wanted) || $0.begins(with: wanted) }
      return Array(first..<end)
    }
    var found: [Int] = []
    var offset = vocabulary.lowerBound
    let span = unsafe bytes.span.bytes
    let needle = piece.isEnded ? piece.bytes + [0] : piece.bytes
    while let place = unsafe span.firstOffset(
      of: needle.span.bytes,
      in: offset..<vocabulary.upperBound
    ) {
      let word = self.word(at: place - vocabulary.lowerBound, from: found.last ?? 0)
      found.append(word)
      offset = vocabulary.lowerBound + wordStart(word + 1)
    }
    return found
  }

  /// The first word for which a test fails that holds for all words before it.
  private func firstWord(_ isBefore: (RawSpan) -> Bool) -> Int {
    (0..<wordCount).partitionPoint { withWord($0, isBefore) }
  }

  /// The number of the word at an offset into the vocabulary.
  private func word(at offset: Int, from first: Int) -> Int {
    (first..<wordCount).partitionPoint { wordStart($0) <= offset } - 1
  }

  // MARK: Postings

  /// Number of rows that have a word.
  ///
  /// - Throws: ``DamagedWords``.
  func rowCount(ofWord word: Int) throws -> Int {
    var cursor = cursor(ofWord: word)
    return try count(at: &cursor)
  }

  /// Calls a closure with the numbers of the rows that have a word, ascending, and its count in each.
  ///
  /// - Throws: ``DamagedWords``, or what `body` throws.
  func forEachRow(ofWord word: Int, _ body: (_ row: Int, _ times: Int) throws -> Void) throws {
    let span = unsafe bytes.span.bytes
    var cursor = cursor(ofWord: word)
    var row = -1
    for _ in 0..<(try count(at: &cursor)) {
      guard let step = cursor.varint(in: span), step >> 1 < UInt64(rowCount) else {
        throw DamagedWords()
      }
      row += Int(step >> 1) + 1
      var times = 1
      if step & 1 == 1 {
        guard let found = cursor.varint(in: span), found <= UInt64(UInt16.max) else {
          throw DamagedWords()
        }
        times = Int(found)
      }
      guard row < rowCount else { throw DamagedWords() }
      try body(row, times)
    }
  }

  /// Reads all postings.
  ///
  /// - Throws: ``DamagedWords``.
  func checkPostings() throws {
    for word in 0..<wordCount { try forEachRow(ofWord: word) { _, _ in } }
  }

  private func cursor(ofWord word: Int) -> ByteCursor {
    ByteCursor(postings + postingStart(word)..<postings + postingStart(word + 1))
  }

  private func count(at cursor: inout ByteCursor) throws -> Int {
    guard let count = unsafe cursor.varint(in: bytes.span.bytes), count <= UInt64(rowCount) else {
      throw DamagedWords()
    }
    return Int(count)
  }
}

/// The postings of a word are not what they must be.
struct DamagedWords: Error {}
