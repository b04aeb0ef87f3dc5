import RowFormat

/// The distinct values of a column of a pack, in memory.
@safe public final class PackDictionary: @unchecked Sendable {
  // Not a constant: a span lent by a constant of a class cannot outlive the accessor. It never changes, so exclusivity need not
  // be checked.
  @exclusivity(unchecked) private var bytes: ByteBuffer
  /// The offset at which each value begins, and the end of the last.
  private let bounds: [UInt32]

  /// Reads a dictionary.
  ///
  /// The result is `nil` if the bytes are not a dictionary.
  ///
  /// - Parameters:
  ///   - chunk: The dictionary's uncompressed bytes.
  ///   - count: The number of values.
  package init?(decoding chunk: consuming ByteBuffer, count: Int) {
    guard let bounds = VariableChunk.bounds(in: chunk.bytes, from: 0, count: count, multipleOf: 1)
    else { return nil }
    self.bounds = bounds
    unsafe bytes = chunk
  }

  /// The number of values.
  public var count: Int { bounds.count - 1 }

  /// Returns the bytes of a value.
  @_lifetime(borrow self)
  public func value(_ code: Int) -> RawSpan {
    let range = Int(bounds[code])..<Int(bounds[code + 1])
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// Returns the size of a value, in bytes.
  package func byteCount(of code: Int) -> Int { Int(bounds[code + 1] &- bounds[code]) }

  /// Finds the number of a value.
  ///
  /// - Complexity: O(``count``): call it once for a scan.
  public func code(of value: RawSpan) -> Int? {
    (0..<count).first { self.value($0).isEqual(to: value) }
  }
}
