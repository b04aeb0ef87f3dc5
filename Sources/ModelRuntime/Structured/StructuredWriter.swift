import Foundation
import RowFormat

/// The bytes of a value while it is encoded, with its open containers.
///
/// Nested values are written in place: `encode(to:)` of the inner one returns before
/// the outer one continues. Only nested containers that the outer one requests by key may be
/// filled in any order; each of those gets a writer of its own, spliced in at the end. A container
/// begins with one byte that is filled in when it is closed; in the rare case that its count takes
/// more, its bytes are moved.
final class StructuredWriter {
  enum Kind {
    /// No container has been requested yet.
    case undecided
    case map, array
    /// A value without fields, which has been written.
    case single
  }

  struct Frame {
    var kind = Kind.undecided
    /// The offset of the container's first byte.
    let start: Int
    var count = 0
    /// The key or index in the enclosing container.
    let key: (any CodingKey)?
    /// Distinguishes this frame from an earlier one at the same depth.
    let serial: Int
  }

  private struct Splice {
    var offset: Int
    let writer: StructuredWriter
  }

  /// A point to which writing can be rolled back.
  struct Mark {
    fileprivate let count: Int
    fileprivate let splices: Int
    fileprivate let frames: Int
  }

  private var buffer = ByteBuffer()
  private(set) var frames: [Frame] = []
  private var splices: [Splice] = []
  private var serials = 0
  /// The first error that could not be thrown at its origin.
  private var failure: EncodingError?
  private let outerPath: [any CodingKey]

  init(outerPath: [any CodingKey] = []) { self.outerPath = outerPath }

  // MARK: Frames

  /// The path to the innermost open container.
  var codingPath: [any CodingKey] { outerPath + frames.compactMap(\.key) }

  /// Opens a frame for the value at `key`, and returns the encoder for the value.
  func open(_ key: (any CodingKey)?) -> StructuredEncoder {
    serials += 1
    frames.append(Frame(start: buffer.count, key: key, serial: serials))
    return StructuredEncoder(writer: self, frame: frames.count - 1, serial: serials)
  }

  /// Closes the innermost frame, whose count is now known.
  private func close() {
    let frame = frames.removeLast()
    switch frame.kind {
    case .single: break
    // A value that requested no container has no fields.
    case .undecided: buffer.appendHead(.map, 0)
    case .map: setHead(.map, of: frame)
    case .array: setHead(.array, of: frame)
    }
  }

  private func setHead(_ major: StructuredMajor, of frame: Frame) {
    guard frame.count >= 24 else {
      buffer.store(major.rawValue << 5 | UInt8(frame.count), at: frame.start)
      return
    }
    let content = frame.start + 1
    var tail = ByteBuffer(capacity: buffer.count - content)
    tail.append(content..<buffer.count, of: buffer)
    buffer.truncate(to: frame.start)
    buffer.appendHead(major, UInt64(frame.count))
    let moved = buffer.count - content
    buffer.append(0..<tail.count, of: tail)
    for index in splices.indices where splices[index].offset >= content {
      splices[index].offset += moved
    }
  }

  /// Makes the innermost frame a container of a kind; repeated requests are allowed.
  ///
  /// - Returns: Whether the frame is the innermost, and of no other kind.
  func begin(_ kind: Kind, in frame: Int, serial: Int) -> Bool {
    guard isOpen(frame, serial) else { return false }
    if frames[frame].kind == kind { return true }
    guard frames[frame].kind == .undecided else { return false }
    frames[frame].kind = kind
    buffer.append(UInt8(0))
    return true
  }

  /// Whether a frame is the innermost one.
  func isOpen(_ frame: Int, _ serial: Int) -> Bool {
    frame == frames.count - 1 && frames[frame].serial == serial
  }

  func kind(of frame: Int) -> Kind { frames[frame].kind }
  func count(of frame: Int) -> Int { frames[frame].count }

  /// Counts one more entry of a container, or marks the frame as holding a single value.
  func countEntry(in frame: Int) { frames[frame].count += 1 }
  func markSingleValue(in frame: Int) { frames[frame].kind = .single }

  /// Keeps an error for the end of the encoding, where it can be thrown.
  func fail(_ message: String) {
    failure = failure ?? misuse(message)
  }

  func misuse(_ message: String) -> EncodingError {
    .invalidValue(
      (),
      EncodingError.Context(codingPath: codingPath, debugDescription: message)
    )
  }

  /// Throws the first kept error, here or in a nested container.
  func checkFailure() throws {
    if let failure { throw failure }
    for splice in splices { try splice.writer.checkFailure() }
  }

  // MARK: Rolling back

  var mark: Mark { Mark(count: buffer.count, splices: splices.count, frames: frames.count) }

  /// Discards everything after a mark, so that a caller that caught the error can continue.
  func rollBack(to mark: Mark) {
    buffer.truncate(to: mark.count)
    splices.removeLast(splices.count - mark.splices)
    frames.removeLast(frames.count - mark.frames)
  }

  // MARK: Values

  func writeNull() { buffer.append(UInt8(0xF6)) }
  func write(_ value: Bool) { buffer.append(value ? UInt8(0xF5) : 0xF4) }
  func write(_ value: Double) {
    buffer.append(UInt8(0xFB))
    buffer.append(value.bitPattern.byteSwapped)
  }
  func write(_ value: Float) {
    buffer.append(UInt8(0xFA))
    buffer.append(value.bitPattern.byteSwapped)
  }
  func write(_ value: String) {
    buffer.appendHead(.text, UInt64(value.utf8.count))
    buffer.append(utf8: value)
  }
  func write(_ value: some FixedWidthInteger & SignedInteger) {
    if value >= 0 {
      buffer.appendHead(.unsigned, UInt64(truncatingIfNeeded: value))
    } else {
      buffer.appendHead(.negative, UInt64(truncatingIfNeeded: ~value))
    }
  }
  func write(_ value: some FixedWidthInteger & UnsignedInteger) {
    buffer.appendHead(.unsigned, UInt64(truncatingIfNeeded: value))
  }
  func writeArrayHead(_ count: Int) { buffer.appendHead(.array, UInt64(count)) }
  func write(tag: UInt64) { buffer.appendHead(.tag, tag) }
  func write(bytes: UnsafeRawBufferPointer) {
    buffer.appendHead(.bytes, UInt64(bytes.count))
    unsafe buffer.append(bytes.bytes)
  }

  /// Writes a value of any type, at the end of the open container.
  func encode<T: Encodable>(_ value: T, at key: (any CodingKey)? = nil) throws {
    if writeNative(value) { return }
    guard outerPath.count + frames.count < StructuredCoding.depthLimit else {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: "values may be nested \(StructuredCoding.depthLimit) deep"
        )
      )
    }
    let mark = mark
    do {
      try value.encode(to: open(key))
      close()
    } catch {
      rollBack(to: mark)
      throw error
    }
  }

  // MARK: Nested containers

  /// Begins a value that is filled in later: a nested container, or the encoder of a superclass.
  func splice(at key: any CodingKey) -> StructuredEncoder {
    let path = codingPath + [key]
    if path.count >= StructuredCoding.depthLimit {
      fail("values may be nested \(StructuredCoding.depthLimit) deep")
    }
    let writer = StructuredWriter(outerPath: path)
    splices.append(Splice(offset: buffer.count, writer: writer))
    return writer.open(nil)
  }

  /// Returns an encoder whose output is discarded, for use after an error.
  func detached() -> StructuredEncoder { StructuredWriter(outerPath: codingPath).open(nil) }

  /// Whether the whole output is a null.
  var isNull: Bool {
    buffer.count == 1 && splices.isEmpty && buffer.load(UInt8.self, at: 0) == 0xF6
  }

  /// Appends the whole output, nested containers in their places.
  func append(to target: inout ByteBuffer) {
    while !frames.isEmpty { close() }
    var start = 0
    for splice in splices {
      target.append(start..<splice.offset, of: buffer)
      splice.writer.append(to: &target)
      start = splice.offset
    }
    target.append(start..<buffer.count, of: buffer)
  }
}

extension ByteBuffer {
  /// Appends a part of another buffer; its bytes cannot be borrowed from a property of a class.
  fileprivate mutating func append(_ range: Range<Int>, of other: borrowing ByteBuffer) {
    append(other.bytes.extracting(range))
  }
}
