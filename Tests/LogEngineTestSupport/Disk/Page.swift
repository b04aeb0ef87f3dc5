import Synchronization

/// 4,096 bytes of a file, shared by all images that hold them and copied when one changes them.
final class Page: @unchecked Sendable {
  static let byteCount = 4096

  private let base: UnsafeMutableRawPointer
  /// The hash of the bytes, or 0 while it is not known.
  private let knownHash = Atomic<UInt64>(0)

  init() {
    base = .allocate(byteCount: Page.byteCount, alignment: 8)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: Page.byteCount)
  }

  init(copying other: Page) {
    base = .allocate(byteCount: Page.byteCount, alignment: 8)
    base.copyMemory(from: other.base, byteCount: Page.byteCount)
  }

  deinit { base.deallocate() }

  /// The bytes; who holds the only reference may change them.
  var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: Page.byteCount)
  }

  func forgetHash() { knownHash.store(0, ordering: .relaxed) }

  /// Sixty-four bits that differ when the bytes do.
  var hash: UInt64 {
    let known = knownHash.load(ordering: .relaxed)
    if known != 0 { return known }
    let computed = Page.hash(of: UnsafeRawBufferPointer(bytes))
    knownHash.store(computed, ordering: .relaxed)
    return computed
  }

  static let hashOfZeros: UInt64 = Page().hash

  /// Four lanes, so that the multiplications overlap: every crash state hashes a page or two.
  private static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    let words = bytes.bindMemory(to: UInt64.self)
    var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    for index in stride(from: 0, to: words.count, by: 4) {
      lanes.0 = step(lanes.0, words[index])
      lanes.1 = step(lanes.1, words[index + 1])
      lanes.2 = step(lanes.2, words[index + 2])
      lanes.3 = step(lanes.3, words[index + 3])
    }
    let sum = mixed(lanes.0) &+ mixed(lanes.1 &+ 1) &+ mixed(lanes.2 &+ 2) &+ mixed(lanes.3 &+ 3)
    return max(1, mixed(sum))
  }

  private static func step(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    let product = (lane ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ (product >> 29)
  }
}
