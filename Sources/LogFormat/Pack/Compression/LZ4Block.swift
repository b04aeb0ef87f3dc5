/// The LZ4 block format, in Swift: where the system's library cannot be had.
///
/// A block is a list of sequences. Each is a token, whose upper four bits say how many literals follow and whose lower
/// four how long the match is beyond four bytes; 15 means that bytes follow which are added, up to and including the
/// first that is not 255. Between the two stand the literals and, little-endian, how far back the match begins. The
/// last sequence is literals only: five bytes at least, and no match begins in the last twelve.
///
/// The pointers come from spans, and every access is checked against their ends before it is made. Nothing of the
/// input is trusted.
enum LZ4Block {
  private static let shortestMatch = 4
  /// How far back a match may begin.
  private static let farthest = 0xFFFF
  /// How many bytes at the end are literals.
  private static let lastLiterals = 5
  /// How far from the end a match begins at the latest.
  private static let lastMatch = 12

  // MARK: Decoding

  /// Writes what a block stands for.
  ///
  /// - Parameters:
  ///   - source: The block.
  ///   - target: The room for what it stands for.
  ///   - isPrefix: Whether to stop, and not to fail, where there is no more room.
  /// - Returns: How many bytes that is; -1 if it is no block, or stands for more than there is room for.
  static func decode(
    _ source: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer,
    isPrefix: Bool = false
  ) -> Int {
    let (sourceCount, targetCount) = (source.count, target.count)
    var (read, written) = (0, 0)
    while read < sourceCount {
      let token = unsafe Int(source[read])
      read += 1
      guard var literals = unsafe length(token >> 4, source, &read) else { return -1 }
      guard literals <= sourceCount - read else { return -1 }
      if isPrefix { literals = min(literals, targetCount - written) }
      guard literals <= targetCount - written else { return -1 }
      if literals > 0 {
        let from = unsafe UnsafeRawBufferPointer(rebasing: source[read..<(read + literals)])
        unsafe UnsafeMutableRawBufferPointer(
          rebasing: target[written..<(written + literals)]
        ).copyMemory(from: from)
        read += literals
        written += literals
      }
      if read == sourceCount || isPrefix && written == targetCount { return written }
      guard sourceCount - read >= 2 else { return -1 }
      let distance = unsafe Int(source[read]) | Int(source[read + 1]) << 8
      read += 2
      guard distance > 0, distance <= written else { return -1 }
      guard let more = unsafe length(token & 15, source, &read) else { return -1 }
      var count = more + shortestMatch
      if isPrefix { count = min(count, targetCount - written) }
      guard count <= targetCount - written else { return -1 }
      // A match may reach into what it stands for: bytes are repeated then.
      if distance >= count {
        let start = written - distance
        let from = unsafe UnsafeRawBufferPointer(rebasing: target[start..<(start + count)])
        unsafe UnsafeMutableRawBufferPointer(
          rebasing: target[written..<(written + count)]
        ).copyMemory(from: from)
      } else {
        for index in written..<(written + count) {
          unsafe target[index] = target[index - distance]
        }
      }
      written += count
      if isPrefix, written == targetCount { return written }
    }
    // A block ends with literals.
    return -1
  }

  /// A length, with the bytes that are added to it.
  ///
  /// - Returns: `nil` if they are cut off.
  private static func length(
    _ start: Int,
    _ source: UnsafeRawBufferPointer,
    _ read: inout Int
  ) -> Int? {
    guard start == 15 else { return start }
    var length = start
    while read < source.count {
      let byte = unsafe Int(source[read])
      read += 1
      length += byte
      if byte != 255 { return length }
    }
    return nil
  }

  // MARK: Encoding

  /// Writes bytes in compressed form.
  ///
  /// - Returns: How many bytes were written; 0 if they do not fit.
  static func encode(
    _ source: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Int {
    var output = unsafe Output(target: target)
    var anchor = 0
    if source.count > lastMatch {
      let bits = source.count < 1 << 12 ? 10 : 14
      var table = [Int32](repeating: -1, count: 1 << bits)
      let end = source.count - lastMatch
      var position = 0
      while position <= end {
        let word = unsafe load(source, position)
        let slot = Int((word &* 2_654_435_761) >> UInt32(32 - bits))
        var candidate = Int(table[slot])
        table[slot] = Int32(truncatingIfNeeded: position)
        guard candidate >= 0, position - candidate <= farthest,
          unsafe load(source, candidate) == word
        else {
          // The longer nothing is found, the less is looked for.
          position += 1 + (position - anchor) >> 6
          continue
        }
        while position > anchor, candidate > 0,
          unsafe source[position - 1] == source[candidate - 1]
        {
          position -= 1
          candidate -= 1
        }
        var count = shortestMatch
        while position + count < source.count - lastLiterals,
          unsafe source[position + count] == source[candidate + count]
        {
          count += 1
        }
        let literals = unsafe UnsafeRawBufferPointer(rebasing: source[anchor..<position])
        guard unsafe output.append(literals, (position - candidate, count)) else { return 0 }
        position += count
        anchor = position
      }
    }
    let literals = unsafe UnsafeRawBufferPointer(rebasing: source[anchor...])
    return unsafe output.append(literals, nil) ? output.count : 0
  }

  private static func load(_ source: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    unsafe UInt32(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The sequences written so far.
  @unsafe private struct Output {
    let target: UnsafeMutableRawBufferPointer
    var count = 0

    /// Adds a sequence.
    ///
    /// - Returns: Whether there is room for it; if not, nothing more may be added.
    mutating func append(
      _ literals: UnsafeRawBufferPointer,
      _ match: (distance: Int, count: Int)?
    ) -> Bool {
      let more = match.map { $0.count - LZ4Block.shortestMatch } ?? 0
      let needed = unsafe Self.byteCount(literals.count, match == nil ? nil : more)
      guard unsafe needed <= target.count - count else { return false }
      unsafe put(UInt8(min(literals.count, 15) << 4 | min(more, 15)))
      unsafe putRest(literals.count)
      if literals.count > 0 {
        unsafe UnsafeMutableRawBufferPointer(
          rebasing: target[count..<(count + literals.count)]
        ).copyMemory(from: literals)
        unsafe count += literals.count
      }
      guard let match else { return true }
      unsafe put(UInt8(match.distance & 0xFF))
      unsafe put(UInt8(match.distance >> 8))
      unsafe putRest(more)
      return true
    }

    /// How many bytes a sequence takes.
    private static func byteCount(_ literals: Int, _ more: Int?) -> Int {
      func rest(_ length: Int) -> Int { length < 15 ? 0 : (length - 15) / 255 + 1 }
      return 1 + rest(literals) + literals + (more.map { 2 + rest($0) } ?? 0)
    }

    private mutating func putRest(_ length: Int) {
      guard length >= 15 else { return }
      var rest = length - 15
      while rest >= 255 {
        unsafe put(255)
        rest -= 255
      }
      unsafe put(UInt8(rest))
    }

    private mutating func put(_ byte: UInt8) {
      unsafe target[count] = byte
      unsafe count += 1
    }
  }
}
