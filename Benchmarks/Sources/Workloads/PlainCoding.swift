/// The bytes of a record for contenders that keep bytes: numbers first, then each text after its length.
///
///     offset  size  field
///          0     8  startDate
///          8     8  endDate
///         16     8  rating
///         24     1  bit 0: isFavorite, bit 1: there is a tag
///         25     …  name, destination, note, tag: a byte of length and UTF-8 each; of 255 bytes and more, a byte 255
///                   and two of length
///
/// Fast on purpose, so that no contender is slowed down by work that is not its own.
public struct PlainCoding: ~Copyable {
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 8)
  public static let ratingOffset = 16
  private static let longMark = 255

  public init() {}

  deinit { buffer.deallocate() }

  /// Encodes a record; the bytes are good until the next is encoded.
  public mutating func encode(_ record: TripRecord) -> UnsafeRawBufferPointer {
    buffer.storeBytes(of: record.startDate, toByteOffset: 0, as: Double.self)
    buffer.storeBytes(of: record.endDate, toByteOffset: 8, as: Double.self)
    buffer.storeBytes(of: record.rating, toByteOffset: Self.ratingOffset, as: Int64.self)
    buffer[24] = (record.isFavorite ? 1 : 0) | (record.tag == nil ? 0 : 2)
    var end = 25
    append(record.name, at: &end)
    append(record.destination, at: &end)
    append(record.note, at: &end)
    if let tag = record.tag { append(tag, at: &end) }
    return UnsafeRawBufferPointer(rebasing: buffer[..<end])
  }

  /// Copies a record's bytes and changes the rating in the copy.
  public mutating func raisingRating(
    _ bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    buffer.copyMemory(from: bytes)
    let rating = buffer.load(fromByteOffset: Self.ratingOffset, as: Int64.self)
    buffer.storeBytes(of: rating &+ 1, toByteOffset: Self.ratingOffset, as: Int64.self)
    return UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count])
  }

  /// Decodes a record.
  public static func decode(_ bytes: UnsafeRawBufferPointer) -> TripRecord {
    let flags = bytes[24]
    var end = 25
    return TripRecord(
      id: 0,
      name: text(bytes, at: &end),
      destination: text(bytes, at: &end),
      startDate: bytes.loadUnaligned(fromByteOffset: 0, as: Double.self),
      endDate: bytes.loadUnaligned(fromByteOffset: 8, as: Double.self),
      rating: rating(bytes),
      isFavorite: flags & 1 != 0,
      note: text(bytes, at: &end),
      tag: flags & 2 != 0 ? text(bytes, at: &end) : nil
    )
  }

  /// The rating of a record, nothing else decoded.
  public static func rating(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    bytes.loadUnaligned(fromByteOffset: ratingOffset, as: Int64.self)
  }

  /// The start of a record, nothing else decoded.
  public static func startDate(_ bytes: UnsafeRawBufferPointer) -> Double {
    bytes.loadUnaligned(fromByteOffset: 0, as: Double.self)
  }

  /// The UTF-8 of a record's destination, nothing else decoded.
  public static func destination(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var end = 25
    _ = textRange(bytes, at: &end)
    return UnsafeRawBufferPointer(rebasing: bytes[textRange(bytes, at: &end)])
  }

  private mutating func append(_ text: String, at end: inout Int) {
    let count = text.utf8.count
    precondition(count <= UInt16.max, "a text of \(count) bytes")
    if count < Self.longMark {
      buffer[end] = UInt8(count)
      end += 1
    } else {
      buffer[end] = UInt8(Self.longMark)
      buffer.storeBytes(of: UInt16(count), toByteOffset: end + 1, as: UInt16.self)
      end += 3
    }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + count])
    if text.utf8.withContiguousStorageIfAvailable({ target.copyMemory(from: .init($0)) }) == nil {
      target.copyBytes(from: text.utf8)
    }
    end += count
  }

  private static func text(_ bytes: UnsafeRawBufferPointer, at end: inout Int) -> String {
    String(decoding: bytes[textRange(bytes, at: &end)], as: UTF8.self)
  }

  /// The range of the text whose length is at a place; moves the place past the text.
  private static func textRange(_ bytes: UnsafeRawBufferPointer, at end: inout Int) -> Range<Int> {
    var count = Int(bytes[end])
    var start = end + 1
    if count == longMark {
      count = Int(bytes.loadUnaligned(fromByteOffset: start, as: UInt16.self))
      start += 2
    }
    end = start + count
    return start..<end
  }
}
