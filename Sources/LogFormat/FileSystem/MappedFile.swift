import Synchronization

/// Bytes of a file in memory, for as long as this object lives.
///
/// The memory must not be used longer than the object. In a shared mapping, only bytes that the file's size covered, and still
/// covers, may be accessed: beyond it the system answers with a signal.
@safe public final class MappedFile: @unchecked Sendable {
  /// The first byte.
  @usableFromInline package let base: UnsafeMutableRawPointer
  /// The number of bytes mapped.
  public let count: Int
  private let advise: @Sendable (AccessPattern) -> Void
  private let release: @Sendable () -> Void

  /// Wraps memory.
  ///
  /// - Parameters:
  ///   - base: The first byte, aligned to at least 4,096 bytes for a private writable mapping.
  ///   - count: The number of bytes.
  ///   - advise: Called with the order in which the bytes will be read.
  ///   - release: Called once, when the memory is no longer needed.
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

  /// Announces the order in which the bytes will be read, until the next call.
  package func expect(_ pattern: AccessPattern) { advise(pattern) }

  /// The addresses of the bytes.
  package var addresses: Range<UInt> {
    let start = unsafe UInt(bitPattern: base)
    return start..<(start + UInt(count))
  }

  /// Gives the process its own copy of bytes of a private writable mapping: from now on they are what they are now, whatever
  /// becomes of the file.
  ///
  /// The system may drop pages that nobody wrote to, and read them from the file again.
  ///
  /// - Complexity: O(bytes), somewhat more than copying them.
  package func detach(_ range: Range<Int>) {
    for offset in stride(from: range.lowerBound & ~4095, to: range.upperBound, by: 4096) {
      let word = unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
      // Writes what is there, as another thread may be writing, too. Reading it first would cost a page fault of its own.
      var value: UInt64 = 0
      while true {
        let (isWritten, found) = unsafe word.pointee.compareExchange(
          expected: value,
          desired: value,
          ordering: .relaxed
        )
        if isWritten { break }
        value = found
      }
    }
  }

  /// Lends the bytes.
  @inlinable
  public func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try body(unsafe UnsafeRawBufferPointer(start: base, count: count).bytes)
  }
}
