import RowFormat

/// Values of variable width: an ``IntegerCoding`` of their lengths, then their bytes.
enum VariableChunk {
  /// Finds the beginning of each value, and the end of the last.
  ///
  /// - Parameters:
  ///   - chunk: Bytes from a file, up to the end of the values.
  ///   - offset: The offset of the lengths.
  ///   - count: The number of values.
  ///   - unit: The number that each length must be a multiple of.
  /// - Returns: The bounds; `nil` if the bytes are not such a chunk.
  static func bounds(
    in chunk: RawSpan,
    from offset: Int,
    count: Int,
    multipleOf unit: Int64
  ) -> [UInt32]? {
    var cursor = ByteCursor(offset..<chunk.byteCount)
    guard chunk.byteCount <= UInt32.max else { return nil }
    return unsafe withUnsafeTemporaryAllocation(of: Int64.self, capacity: max(count, 1)) { memory in
      let lengths = unsafe UnsafeMutableBufferPointer(rebasing: memory[..<count])
      guard unsafe IntegerCoding.decode(chunk, &cursor, into: lengths, 0..<count) else {
        return nil
      }
      var end = Int64(cursor.offset)
      let limit = Int64(chunk.byteCount)
      var bounds: [UInt32] = []
      bounds.reserveCapacity(count + 1)
      bounds.append(UInt32(end))
      for index in 0..<count {
        let length = unsafe lengths[index]
        guard 0...(limit - end) ~= length, length % unit == 0 else { return nil }
        end += length
        bounds.append(UInt32(truncatingIfNeeded: end))
      }
      return end == limit ? bounds : nil
    }
  }
}
