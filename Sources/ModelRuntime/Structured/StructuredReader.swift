import Foundation
import RowFormat

/// The bytes of a value while it is decoded.
///
/// It borrows them for one call of ``StructuredCoding/decode(_:from:)``. A decoder that
/// a value keeps beyond that finds nothing, instead of reused memory.
@safe final class StructuredReader {
  private var buffer: UnsafeRawBufferPointer

  init(_ buffer: UnsafeRawBufferPointer) { unsafe self.buffer = unsafe buffer }

  func invalidate() { unsafe buffer = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }

  func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try unsafe body(buffer.bytes) }

  /// Checks that the bytes are one well-formed item and nothing else.
  func validate() throws {
    let end = withBytes { StructuredExtent.end(of: 0, in: $0) }
    guard let end else {
      throw corrupted(
        "the bytes are no well-formed value: damaged, cut off or nested too deep",
        nil
      )
    }
    guard unsafe end == buffer.count else {
      throw corrupted(unsafe "\(buffer.count - end) bytes follow the value, expected none", nil)
    }
  }

  // MARK: Items

  /// Returns the head of an item, after its tags, and the last of the tags.
  func head(at offset: Int) -> (head: StructuredHead, tag: UInt64?)? {
    withBytes { bytes in
      var tag: UInt64?
      var position = offset
      while let head = StructuredHead(at: position, in: bytes) {
        guard head.major == .tag else { return (head, tag) }
        tag = head.argument
        position = head.end
      }
      return nil
    }
  }

  func isNull(at offset: Int) -> Bool { head(at: offset)?.head.isNull ?? false }

  func bool(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> Bool {
    let item = head(at: offset)?.head
    if let item, item.major == .simple {
      if item.information == StructuredHead.trueInformation { return true }
      if item.information == StructuredHead.falseInformation { return false }
    }
    throw mismatch(Bool.self, at: offset, place())
  }

  /// Reads an integer of any width; a float with an integral value counts, since an `Int` may have been a
  /// `Double` when it was written.
  func integer<T: FixedWidthInteger>(
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws -> T {
    guard let item = head(at: offset)?.head else { throw mismatch(T.self, at: offset, place()) }
    let value: T?
    switch item.major {
    case .unsigned: value = T(exactly: item.argument)
    case .negative:
      // The argument of -1 is 0, that of Int64.min is Int64.max.
      value = Int64(exactly: item.argument).flatMap { T(exactly: ~$0) }
    case .simple:
      guard let float = item.float else { throw mismatch(T.self, at: offset, place()) }
      value = T(exactly: float)
    default: throw mismatch(T.self, at: offset, place())
    }
    if let value { return value }
    throw corrupted("\(describe(offset)) does not fit in \(T.self)", place())
  }

  /// Reads a float of any width, or an integer that a `Double` can hold.
  func double(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> Double {
    guard let item = head(at: offset)?.head else {
      throw mismatch(Double.self, at: offset, place())
    }
    if let float = item.float { return float }
    let value: Double? =
      switch item.major {
      case .unsigned: Double(exactly: item.argument)
      case .negative: Int64(exactly: item.argument).flatMap { Double(exactly: ~$0) }
      default: throw mismatch(Double.self, at: offset, place())
      }
    if let value { return value }
    throw corrupted("\(describe(offset)) does not fit in Double", place())
  }

  func float(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> Float {
    let wide = try double(at: offset, in: place())
    let value = Float(wide)
    if value.isInfinite && wide.isFinite {
      throw corrupted("\(wide) does not fit in Float", place())
    }
    return value
  }

  func text(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> String {
    guard let item = head(at: offset)?.head, item.major == .text else {
      throw mismatch(String.self, at: offset, place())
    }
    let text = unsafe withString(of: item) { unsafe String(validating: $0, as: UTF8.self) }
    if let text { return text }
    throw corrupted("the text is not UTF-8", place())
  }

  func data(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> Data {
    guard let item = head(at: offset)?.head, item.major == .bytes else {
      throw mismatch(Data.self, at: offset, place())
    }
    return unsafe withString(of: item) { unsafe Data($0) }
  }

  /// Lends the bytes of a string of text or bytes, its chunks joined.
  func withString<R>(of head: StructuredHead, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard head.isIndefinite else {
      let range = head.end..<(head.end + Int(head.argument))
      return unsafe body(UnsafeRawBufferPointer(rebasing: buffer[range]))
    }
    var joined: [UInt8] = []
    var position = head.end
    while let chunk = withBytes({ StructuredHead(at: position, in: $0) }), chunk.major == head.major
    {
      let end = chunk.end + Int(chunk.argument)
      unsafe joined += buffer[chunk.end..<end]
      position = end
    }
    return unsafe joined.withUnsafeBytes(body)
  }

  // MARK: Containers

  func map(at offset: Int, in place: StructuredPlace?) throws -> StructuredMap {
    guard let head = head(at: offset)?.head, head.major == .map else {
      throw mismatch([String: Any].self, at: offset, place)
    }
    return withBytes { StructuredMap(head, in: $0) }
  }

  func elements(at offset: Int, in place: StructuredPlace?) throws -> [Int] {
    guard let head = head(at: offset)?.head, head.major == .array else {
      throw mismatch([Any].self, at: offset, place)
    }
    return withBytes { bytes in
      var items = StructuredItems(of: head)
      var offsets: [Int] = []
      offsets.reserveCapacity(head.isIndefinite ? 0 : Int(head.argument))
      while let offset = items.next(in: bytes) { offsets.append(offset) }
      return offsets
    }
  }

  // MARK: Errors

  func corrupted(_ message: String, _ place: StructuredPlace?) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: StructuredPlace.path(place), debugDescription: message)
    )
  }

  func mismatch(_ type: Any.Type, at offset: Int, _ place: StructuredPlace?) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: StructuredPlace.path(place),
      debugDescription: "expected \(type), found \(describe(offset))"
    )
    return isNull(at: offset) ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func describe(_ offset: Int) -> String {
    withBytes { StructuredValue(at: offset, in: $0)?.description ?? "nothing" }
  }
}
