/// The bytes of a record for contenders that keep bytes: numbers first, then each text behind its length.
///
///     offset  size  field
///          0     8  startDate
///          8     8  endDate
///         16     8  rating
///         24     1  bit 0: isFavorite, bit 1: there is a tag
///         25     …  name, destination, note, tag: a byte of length and UTF-8 each
///
/// Fast on purpose, so that no contender is slowed down by what it does not do itself.
public struct PlainCoding: ~Copyable {
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 8)
  public static let ratingOffset = 16

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
    let start = 26 + Int(bytes[25])
    return UnsafeRawBufferPointer(rebasing: bytes[start + 1..<start + 1 + Int(bytes[start])])
  }

  private mutating func append(_ text: String, at end: inout Int) {
    let count = text.utf8.count
    precondition(count < 256, "the workload's texts are shorter than 256 bytes")
    buffer[end] = UInt8(count)
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[end + 1..<end + 1 + count])
    if text.utf8.withContiguousStorageIfAvailable({ target.copyMemory(from: .init($0)) }) == nil {
      target.copyBytes(from: text.utf8)
    }
    end += 1 + count
  }

  private static func text(_ bytes: UnsafeRawBufferPointer, at end: inout Int) -> String {
    let start = end + 1
    end = start + Int(bytes[end])
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}
