import LogEngine

/// SipHash-1-3 with a store's own key: a hash of texts that is the same whenever the store is open.
///
/// Indexes take texts of one hash for equal, so no text may be made that has another's: the key is the store's
/// identifier, random bytes that are in its files and nowhere else.
struct TextHash: Hashable, Sendable {
  private let low: UInt64
  private let high: UInt64

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  init(_ store: StoreIdentifier) { self.init(low: store.low, high: store.high) }

  /// The hash of some bytes.
  ///
  /// - Complexity: O(bytes), at about a gigabyte a second.
  func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var state = State(low, high)
    let end = bytes.count & ~7
    var offset = 0
    while offset < end {
      unsafe state.add(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      )
      offset += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    while offset < bytes.count {
      last |= unsafe UInt64(bytes[offset]) << UInt64(8 * (offset - end))
      offset += 1
    }
    state.add(last)
    return state.finish()
  }

  private struct State {
    private var v0, v1, v2, v3: UInt64

    @inline(__always)
    init(_ low: UInt64, _ high: UInt64) {
      v0 = low ^ 0x736F_6D65_7073_6575
      v1 = high ^ 0x646F_7261_6E64_6F6D
      v2 = low ^ 0x6C79_6765_6E65_7261
      v3 = high ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
      v3 ^= word
      round()
      v0 ^= word
    }

    @inline(__always)
    mutating func finish() -> UInt64 {
      v2 ^= 0xFF
      round()
      round()
      round()
      return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = State.rotate(v1, 13) ^ v0
      v0 = State.rotate(v0, 32)
      v2 &+= v3
      v3 = State.rotate(v3, 16) ^ v2
      v0 &+= v3
      v3 = State.rotate(v3, 21) ^ v0
      v2 &+= v1
      v1 = State.rotate(v1, 17) ^ v2
      v2 = State.rotate(v2, 32)
    }

    @inline(__always)
    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
      word &<< count | word &>> (64 &- count)
    }
  }
}
