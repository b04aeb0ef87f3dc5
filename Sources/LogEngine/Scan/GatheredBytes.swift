import RowFormat

/// Values of variable width, one behind the other, in memory that grows.
///
/// Not a ``ByteBuffer``, because an array contains one for each column; the owner frees its memory.
@safe struct GatheredBytes {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init() {
    capacity = 4096
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
  }

  func deallocate() { unsafe base.deallocate() }

  mutating func removeAll() { count = 0 }

  @inline(__always)
  mutating func append(_ value: RawSpan) {
    if value.byteCount > capacity &- count { grow(by: value.byteCount) }
    unsafe value.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe (base + count).copyMemory(from: start, byteCount: bytes.count)
    }
    count &+= value.byteCount
  }

  /// Appends the values to a buffer.
  func append(to buffer: inout ByteBuffer) {
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count).bytes
    buffer.append(bytes)
  }

  private mutating func grow(by extra: Int) {
    capacity = max(capacity * 2, count + extra)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe larger.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = larger
  }
}
