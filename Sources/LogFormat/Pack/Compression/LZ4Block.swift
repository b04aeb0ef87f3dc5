/// The LZ4 block format, in Swift: for platforms without the system's library.
///
/// A block is a list of sequences. Each is a token, whose upper four bits are the number of literals and whose lower four the
/// length of the match beyond four bytes; 15 means that further bytes are added, up to and including the first that is not 255.
/// The literals follow, then, little-endian, the distance back to the start of the match. The last sequence is literals only:
/// five bytes at least, and no match begins in the last twelve.
///
/// The pointers come from spans, and every access is checked against their ends first. The input is not trusted.
enum LZ4Block {
  private static let shortestMatch = 4
  /// The greatest distance back to the start of a match.
  private static let farthest = 0xFFFF
  /// The minimum number of literals at the end.
  private static let lastLiterals = 5
  /// The minimum distance of a match's start from the end.
  private static let lastMatch = 12

  // MARK: Decoding

  /// Decompresses a block.
  ///
  /// - Parameters:
  ///   - source: The block.
  ///   - target: The room for the decompressed bytes.
  ///   - isPrefix: Whether to stop, and not to fail, when there is no more room.
  /// - Returns: The number of bytes; -1 if the block is invalid, or expands to more bytes than there is room for.
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
      // A match may overlap its own output: then bytes are repeated.
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

  /// Returns a length, including the bytes that are added to it.
  ///
  /// - Returns: `nil` if the bytes are cut off.
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
  /// - Returns: The number of bytes written; 0 if they do not fit.
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
          // The longer no match is found, the fewer positions are tried.
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
    /// - Returns: Whether there was room for it; if not, nothing more may be added.
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

    /// Returns the size of a sequence, in bytes.
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
