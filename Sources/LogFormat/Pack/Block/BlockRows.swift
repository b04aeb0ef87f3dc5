import RowFormat

/// The rows of a block that is being filled.
struct BlockRows: ~Copyable {
  private(set) var bytes = ByteBuffer(capacity: 64 << 10)
  /// The offset at which each row begins, and the end of the last.
  private(set) var starts: [Int] = [0]
  private(set) var keys: [Int64] = []

  var count: Int { keys.count }

  @_lifetime(borrow self)
  func row(_ index: Int) -> RawSpan {
    bytes.bytes.extracting(starts[index]..<starts[index + 1])
  }

  mutating func append(_ row: RawSpan, key: UInt64) {
    bytes.append(row)
    starts.append(bytes.count)
    keys.append(Int64(key))
  }

  mutating func removeAll() {
    // The memory that one large row needed is not kept for ever.
    if bytes.count > 1 << 20 {
      bytes = ByteBuffer(capacity: 64 << 10)
    } else {
      bytes.removeAll()
    }
    starts.removeSubrange(1...)
    keys.removeAll(keepingCapacity: true)
  }
}
