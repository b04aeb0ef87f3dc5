import RowFormat

/// The different values of a column of a pack, in memory.
@safe public final class PackDictionary: @unchecked Sendable {
  // Not a constant: what a constant of a class lends cannot be kept past the accessor. Nothing changes it,
  // so nothing has to check that no two accesses overlap.
  @exclusivity(unchecked) private var bytes: ByteBuffer
  /// Where each value begins, and where the last ends.
  private let bounds: [UInt32]

  /// Reads a dictionary.
  ///
  /// The result is `nil` if the bytes are none.
  ///
  /// - Parameters:
  ///   - chunk: Its uncompressed bytes.
  ///   - count: How many values it has.
  package init?(decoding chunk: consuming ByteBuffer, count: Int) {
    guard let bounds = VariableChunk.bounds(in: chunk.bytes, from: 0, count: count, multipleOf: 1)
    else { return nil }
    self.bounds = bounds
    unsafe bytes = chunk
  }

  /// How many values there are.
  public var count: Int { bounds.count - 1 }

  /// The bytes of a value.
  @_lifetime(borrow self)
  public func value(_ code: Int) -> RawSpan {
    let range = Int(bounds[code])..<Int(bounds[code + 1])
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// How many bytes a value has.
  package func byteCount(of code: Int) -> Int { Int(bounds[code + 1] &- bounds[code]) }

  /// Finds the number of a value.
  ///
  /// - Complexity: O(``count``): to be asked once for a scan.
  public func code(of value: RawSpan) -> Int? {
    (0..<count).first { self.value($0).isEqual(to: value) }
  }
}
