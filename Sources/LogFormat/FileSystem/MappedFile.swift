/// Bytes of a file in memory, for as long as this object lives.
///
/// The memory must not be used longer than the object. Of a shared mapping only what the file's
/// size covered, and still covers, may be touched: beyond it the system answers with a signal.
@safe public final class MappedFile: @unchecked Sendable {
  /// The first byte.
  @usableFromInline package let base: UnsafeMutableRawPointer
  /// How many bytes are mapped.
  public let count: Int
  private let advise: @Sendable (AccessPattern) -> Void
  private let release: @Sendable () -> Void

  /// Wraps memory.
  ///
  /// - Parameters:
  ///   - base: The first byte, aligned to at least 4,096 bytes for a private writable mapping.
  ///   - count: How many bytes there are.
  ///   - advise: Told in which order the bytes will be read.
  ///   - release: Called once, when nobody needs the memory any more.
  @unsafe public init(
    base: UnsafeMutableRawPointer,
    count: Int,
    advise: @escaping @Sendable (AccessPattern) -> Void = { _ in },
    release: @escaping @Sendable () -> Void
  ) {
    unsafe self.base = base
    self.count = count
    self.advise = advise
    self.release = release
  }

  deinit { release() }

  /// Says in which order the bytes will be read, until something else is said.
  package func expect(_ pattern: AccessPattern) { advise(pattern) }

  /// Where the bytes are.
  package var addresses: Range<UInt> {
    let start = unsafe UInt(bitPattern: base)
    return start..<(start + UInt(count))
  }

  /// Lends the bytes.
  @inlinable
  public func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try body(unsafe UnsafeRawBufferPointer(start: base, count: count).bytes)
  }
}
