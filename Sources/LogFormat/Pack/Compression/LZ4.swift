import RowFormat

#if !SwiftLZ4
import CLZ4
#endif

/// The LZ4 block format, through the system's library, which is called only here; with the package's trait `SwiftLZ4`, through
/// ``LZ4Block``.
///
/// The interface takes spans and appends to buffers; lengths are checked on both sides, and the decompressor trusts neither its
/// input nor the given length.
enum LZ4 {
  /// The greatest input that the library accepts, in bytes.
  static let inputLimit = 0x7E00_0000

  /// A byte of LZ4 never expands to more bytes than this: input that claims more is damaged.
  static let greatestExpansion = 255

  /// The reasons that bytes could not be decompressed.
  enum Failure: Error, Hashable {
    /// The bytes are not LZ4, or are cut off.
    case malformed
    /// The bytes are LZ4, but of another length.
    case wrongCount(expected: Int, found: Int)
  }

  /// Appends bytes in compressed form, if they take no more than `limit` bytes.
  ///
  /// - Returns: The number of bytes appended; `nil` if they did not fit, and nothing was appended.
  static func compress(
    _ source: RawSpan,
    upTo limit: Int,
    into buffer: inout ByteBuffer
  ) -> Int? {
    guard limit > 0, 1...inputLimit ~= source.byteCount else { return nil }
    let capacity = min(limit, inputLimit)
    let written = buffer.append(upTo: capacity) { room in
      let status = unsafe source.withUnsafeBytes { source in
        unsafe room.withUnsafeMutableBytes { target in
          #if SwiftLZ4
          unsafe LZ4Block.encode(source, into: target)
          #else
          unsafe LZ4_compress_default(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self),
            CInt(source.count),
            CInt(target.count)
          )
          #endif
        }
      }
      return Int(max(0, status))
    }
    return written > 0 ? written : nil
  }

  /// Appends the decompressed bytes.
  ///
  /// - Parameters:
  ///   - source: The compressed bytes, from any file.
  ///   - count: The number of decompressed bytes.
  ///   - buffer: The buffer to append to; unchanged on failure.
  /// - Throws: ``Failure``.
  static func decompress(
    _ source: RawSpan,
    count: Int,
    into buffer: inout ByteBuffer
  ) throws(Failure) {
    try unsafe append(source, count, to: &buffer) { source, target in
      #if SwiftLZ4
      unsafe LZ4Block.decode(source, into: target)
      #else
      unsafe Int(
        LZ4_decompress_safe(
          source.baseAddress?.assumingMemoryBound(to: CChar.self),
          target.baseAddress?.assumingMemoryBound(to: CChar.self),
          CInt(source.count),
          CInt(target.count)
        )
      )
      #endif
    }
  }

  /// Appends the first part of the decompressed bytes.
  ///
  /// - Parameters:
  ///   - source: The compressed bytes, from any file.
  ///   - count: The number of decompressed bytes wanted.
  ///   - buffer: The buffer to append to; unchanged on failure.
  /// - Throws: ``Failure``, also if there are fewer.
  static func decompressPrefix(
    _ source: RawSpan,
    count: Int,
    into buffer: inout ByteBuffer
  ) throws(Failure) {
    try unsafe append(source, count, to: &buffer) { source, target in
      #if SwiftLZ4
      unsafe LZ4Block.decode(source, into: target, isPrefix: true)
      #else
      unsafe Int(
        LZ4_decompress_safe_partial(
          source.baseAddress?.assumingMemoryBound(to: CChar.self),
          target.baseAddress?.assumingMemoryBound(to: CChar.self),
          CInt(source.count),
          CInt(target.count),
          CInt(target.count)
        )
      )
      #endif
    }
  }

  /// Makes room for that many bytes, and fills it in.
  @inline(__always)
  private static func append(
    _ source: RawSpan,
    _ count: Int,
    to buffer: inout ByteBuffer,
    _ decompress: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int
  ) throws(Failure) {
    guard 1...inputLimit ~= source.byteCount, 1...inputLimit ~= count,
      isPlausible(count, from: source.byteCount)
    else { throw .malformed }
    let start = buffer.count
    var status = 0
    buffer.append(upTo: count) { room in
      status = unsafe source.withUnsafeBytes { source in
        unsafe room.withUnsafeMutableBytes { target in unsafe decompress(source, target) }
      }
      return max(0, status)
    }
    if status == count { return }
    buffer.truncate(to: start)
    throw status < 0 ? .malformed : .wrongCount(expected: count, found: status)
  }

  /// Whether that many compressed bytes can expand to `count` bytes: checked before memory is allocated.
  static func isPlausible(_ count: Int, from storedCount: Int) -> Bool {
    count / greatestExpansion <= storedCount
  }
}
