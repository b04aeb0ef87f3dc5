import RowFormat

/// The sixteen random bytes that distinguish one store from every other.
public struct StoreIdentifier: Hashable, Sendable, CustomStringConvertible {
  package let low: UInt64
  package let high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  package init(decoding bytes: RawSpan, at offset: Int) {
    low = bytes.load(UInt64.self, at: offset)
    high = bytes.load(UInt64.self, at: offset + 8)
  }

  package func encode(into buffer: inout ByteBuffer) {
    buffer.append(low)
    buffer.append(high)
  }

  /// Thirty-two hexadecimal digits, in the order of the bytes on disk.
  public var description: String {
    hexadecimal(low.byteSwapped, digits: 16) + hexadecimal(high.byteSwapped, digits: 16)
  }
}

/// Returns a number in lowercase hexadecimal, with leading zeros.
package func hexadecimal(_ value: UInt64, digits: Int) -> String {
  let text = String(value, radix: 16)
  return String(repeating: "0", count: max(0, digits - text.count)) + text
}
