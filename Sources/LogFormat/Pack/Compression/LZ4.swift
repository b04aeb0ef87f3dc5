import RowFormat

#if !SwiftLZ4
import CLZ4
#endif

/// The LZ4 block format, by the system's library, which nothing else calls; with the package's trait `SwiftLZ4` by
/// ``LZ4Block``.
///
/// Spans go in and buffers come out; lengths are checked on both sides, and the decompressor is the
/// one that trusts neither its input nor the length it is told.
enum LZ4 {
  /// The library takes no longer input.
  static let inputLimit = 0x7E00_0000

  /// A byte of LZ4 never stands for more bytes than this: what claims more is damaged.
  static let greatestExpansion = 255

  /// Why bytes could not be decompressed.
  enum Failure: Error, Hashable {
    /// They are not LZ4, or are cut off.
    case malformed
    /// They are LZ4 of another number of bytes.
    case wrongCount(expected: Int, found: Int)
  }

  /// Appends bytes in compressed form, if that takes no more than `limit` bytes.
  ///
  /// - Returns: How many bytes were appended; `nil` if they did not fit, and none were.
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

  /// Appends what bytes stand for.
  ///
  /// - Parameters:
  ///   - source: The compressed bytes, from whatever file.
  ///   - count: How many bytes they stand for.
  ///   - buffer: The buffer that those are appended to; unchanged on failure.
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

  /// Appends the first of the bytes that bytes stand for.
  ///
  /// - Parameters:
  ///   - source: The compressed bytes, from whatever file.
  ///   - count: How many of the bytes they stand for are wanted.
  ///   - buffer: The buffer that those are appended to; unchanged on failure.
  /// - Throws: ``Failure``, also if they stand for fewer.
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

  /// Makes room for so many bytes, and has them filled in.
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

  /// Whether so many stored bytes can stand for so many: asked before room is made for them.
  static func isPlausible(_ count: Int, from storedCount: Int) -> Bool {
    count / greatestExpansion <= storedCount
  }
}
