import LibC

/// A growing run of bytes with one owner.
///
/// The hot buffer of every encoder. Noncopyable on purpose: appending to a `[UInt8]` costs a
/// uniqueness check and a reference-count round trip each time, appending here is a compare and a
/// store.
@safe public struct ByteBuffer: ~Copyable, @unchecked Sendable {
  @usableFromInline var base: UnsafeMutableRawPointer
  /// The number of bytes that there is memory for.
  @usableFromInline package private(set) var capacity: Int
  @usableFromInline var used: Int

  /// The number of bytes appended.
  @inlinable public var count: Int { used }

  /// Creates an empty buffer with room for `capacity` bytes.
  public init(capacity: Int = 256) {
    self.capacity = max(capacity, 64)
    unsafe base = ByteBuffer.memory(malloc(self.capacity), self.capacity)
    used = 0
  }

  deinit { unsafe free(base) }

  private static func memory(
    _ allocated: UnsafeMutableRawPointer?,
    _ byteCount: Int
  ) -> UnsafeMutableRawPointer {
    guard let allocated = unsafe allocated else {
      preconditionFailure("no memory for a buffer of \(byteCount) bytes")
    }
    return unsafe allocated
  }

  /// The bytes appended so far.
  ///
  /// The span borrows the buffer: it cannot outlive the buffer, nor survive an append.
  @inlinable public var bytes: RawSpan {
    @_lifetime(borrow self) get {
      let span = unsafe UnsafeRawBufferPointer(start: base, count: count).bytes
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Makes room for `extra` more bytes, doubling the allocation when it is too small.
  @inlinable public mutating func reserve(_ extra: Int) {
    if count &+ extra > capacity { grow(to: count &+ extra) }
  }

  @usableFromInline mutating func grow(to needed: Int) {
    let newCapacity = max(needed, capacity * 2)
    // The C library moves the pages of a large buffer, where copying them would touch as many new ones.
    unsafe base = ByteBuffer.memory(realloc(base, newCapacity), newCapacity)
    capacity = newCapacity
  }

  /// Removes all bytes and keeps the allocation.
  @inlinable public mutating func removeAll() { used = 0 }

  /// Cuts the buffer back to its first `newCount` bytes.
  @inlinable public mutating func truncate(to newCount: Int) {
    precondition(0...count ~= newCount, "truncating \(count) bytes to \(newCount)")
    used = newCount
  }

  /// Appends an integer, little-endian.
  @inlinable public mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    let width = MemoryLayout<T>.size
    reserve(width)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
    used = count &+ width
  }

  /// Appends `value` as an LEB128 varint: seven bits a byte, least significant first.
  @inlinable public mutating func appendVarint(_ value: UInt64) {
    reserve(10)
    var rest = value
    var at = count
    while rest >= 0x80 {
      unsafe base.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80,
        toByteOffset: at,
        as: UInt8.self
      )
      rest >>= 7
      at &+= 1
    }
    unsafe base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
    used = at &+ 1
  }

  /// Appends a copy of the bytes of a span.
  @inlinable public mutating func append(_ span: RawSpan) {
    let byteCount = span.byteCount
    guard byteCount > 0 else { return }
    reserve(byteCount)
    let target = unsafe base + count
    unsafe span.withUnsafeBytes { source in
      unsafe target.copyMemory(from: source.baseAddress.unsafelyUnwrapped, byteCount: byteCount)
    }
    used = count &+ byteCount
  }

  /// Appends the UTF-8 of a string.
  @inlinable public mutating func append(utf8 string: String) {
    // `withContiguousStorageIfAvailable` costs a seventh of `utf8.span` on Linux; a bridged or
    // otherwise lazy string takes the second path.
    let done: Void? = unsafe string.utf8.withContiguousStorageIfAvailable { source in
      guard let start = source.baseAddress, source.count > 0 else { return }
      reserve(source.count)
      unsafe (base + count).copyMemory(from: start, byteCount: source.count)
      used = count &+ source.count
    }
    if done == nil {
      for byte in string.utf8 { append(byte) }
    }
  }

  /// Appends bytes that a closure provides, from a file for instance.
  ///
  /// - Parameters:
  ///   - limit: The number of bytes to make room for.
  ///   - body: Fills the memory it is given from the start, and returns the number of bytes filled.
  /// - Returns: The result of the closure.
  /// - Throws: Any error that the closure throws.
  @discardableResult
  @inlinable public mutating func append<E: Error>(
    upTo limit: Int,
    _ body: (inout MutableRawSpan) throws(E) -> Int
  ) throws(E) -> Int {
    reserve(limit)
    var room = unsafe MutableRawSpan(_unsafeStart: base + count, byteCount: limit)
    let filled = try body(&room)
    precondition(0...limit ~= filled, "filled \(filled) of \(limit) bytes")
    used = count &+ filled
    return filled
  }

  /// Appends `byteCount` zero bytes.
  @inlinable public mutating func appendZeros(_ byteCount: Int) {
    reserve(byteCount)
    unsafe (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    used = count &+ byteCount
  }

  /// Overwrites an integer at an offset already appended.
  @inlinable public mutating func store<T: FixedWidthInteger & BitwiseCopyable>(
    _ value: T,
    at offset: Int
  ) {
    precondition(offset >= 0 && offset &+ MemoryLayout<T>.size <= count, "store outside the buffer")
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
  }

  /// Overwrites bytes already appended with those of a span.
  @inlinable public mutating func overwrite(_ span: RawSpan, at offset: Int) {
    let byteCount = span.byteCount
    precondition(offset >= 0 && byteCount <= count &- offset, "store outside the buffer")
    guard byteCount > 0 else { return }
    let target = unsafe base + offset
    unsafe span.withUnsafeBytes { source in
      unsafe target.copyMemory(from: source.baseAddress.unsafelyUnwrapped, byteCount: byteCount)
    }
  }

  /// Reads an integer at an offset already appended.
  @inlinable public func load<T: FixedWidthInteger & BitwiseCopyable>(
    _: T.Type,
    at offset: Int
  ) -> T {
    precondition(offset >= 0 && offset &+ MemoryLayout<T>.size <= count, "load outside the buffer")
    return T(littleEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// Moves the bytes from `offset` to the end by `distance` bytes towards the end.
  @usableFromInline mutating func shift(from offset: Int, by distance: Int) {
    reserve(distance)
    unsafe (base + offset + distance).copyMemory(from: base + offset, byteCount: count - offset)
    used = count + distance
  }
}
