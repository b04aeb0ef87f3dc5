import RowFormat

/// The extents of items, independent of their content.
enum StructuredExtent {
  /// Returns the offset after the item that begins at an offset, or `nil` if it is malformed, cut
  /// off, or nested deeper than the limit.
  static func end(of offset: Int, in bytes: RawSpan) -> Int? {
    end(of: offset, in: bytes, depth: 0)
  }

  /// Maximum number of tags in front of one item.
  private static let tagLimit = 8

  private static func end(of offset: Int, in bytes: RawSpan, depth: Int) -> Int? {
    guard depth <= StructuredCoding.depthLimit, var head = StructuredHead(at: offset, in: bytes)
    else { return nil }
    // Tags before an item do not count for depth; but writers use few.
    var tags = 0
    while head.major == .tag {
      tags += 1
      guard tags <= tagLimit, let next = StructuredHead(at: head.end, in: bytes) else { return nil }
      head = next
    }
    switch head.major {
    case .unsigned, .negative, .simple, .tag:
      return head.end
    case .bytes, .text:
      if head.isIndefinite { return endOfChunks(of: head, in: bytes) }
      guard head.argument <= UInt64(bytes.byteCount - head.end) else { return nil }
      return head.end + Int(head.argument)
    case .array, .map:
      let itemsPerEntry: UInt64 = head.major == .map ? 2 : 1
      var position = head.end
      if head.isIndefinite {
        var count: UInt64 = 0
        while position < bytes.byteCount {
          if bytes.load(UInt8.self, at: position) == StructuredHead.breakByte {
            return count % itemsPerEntry == 0 ? position + 1 : nil
          }
          guard let next = end(of: position, in: bytes, depth: depth + 1) else { return nil }
          position = next
          count += 1
        }
        return nil
      }
      // Every item takes a byte: a greater count is invalid, and must not cost time.
      guard head.argument <= UInt64(bytes.byteCount - head.end) / itemsPerEntry else { return nil }
      for _ in 0..<(head.argument * itemsPerEntry) {
        guard let next = end(of: position, in: bytes, depth: depth + 1) else { return nil }
        position = next
      }
      return position
    }
  }

  /// The chunks of a string of indefinite length are strings of its kind, of definite length.
  private static func endOfChunks(of head: StructuredHead, in bytes: RawSpan) -> Int? {
    var position = head.end
    while position < bytes.byteCount {
      if bytes.load(UInt8.self, at: position) == StructuredHead.breakByte { return position + 1 }
      guard let chunk = StructuredHead(at: position, in: bytes), chunk.major == head.major,
        !chunk.isIndefinite, chunk.argument <= UInt64(bytes.byteCount - chunk.end)
      else { return nil }
      position = chunk.end + Int(chunk.argument)
    }
    return nil
  }
}

/// Walks the items of an array, or keys and values of a map.
///
/// It ends early, as if there were no more, if an item is malformed or cut off.
struct StructuredItems {
  /// The offset after the last returned item.
  private(set) var position: Int
  private var remaining: UInt64?

  /// Begins before the first item of a container.
  init(of head: StructuredHead) {
    position = head.end
    // The count is unbounded until it is compared with the existing bytes.
    let (pairs, overflow) = head.argument.multipliedReportingOverflow(by: 2)
    let items = head.major == .map ? (overflow ? .max : pairs) : head.argument
    remaining = head.isIndefinite ? nil : items
  }

  /// The offset of the next item, or `nil` after the last.
  mutating func next(in bytes: RawSpan) -> Int? {
    if let remaining {
      guard remaining > 0 else { return nil }
      self.remaining = remaining - 1
    } else {
      guard position < bytes.byteCount,
        bytes.load(UInt8.self, at: position) != StructuredHead.breakByte
      else { return nil }
    }
    let item = position
    guard let end = StructuredExtent.end(of: item, in: bytes) else { return nil }
    position = end
    return item
  }
}
