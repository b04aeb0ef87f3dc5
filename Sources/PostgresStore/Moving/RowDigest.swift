#if PostgreSQL
/// A figure that two tables share if they hold the same rows, in whatever order.
///
/// Made of the rows as they travel, columns in the order of their names: so it is the same on a server and in a log,
/// however either arranges its columns. It finds accidents, not forgeries.
package struct RowDigest: Sendable, Hashable, CustomStringConvertible {
  package private(set) var rowCount = 0
  private var sum: UInt64 = 0
  private var secondSum: UInt64 = 0

  package init() {}

  /// Adds a row.
  mutating func add(_ row: UnsafeRawBufferPointer) {
    rowCount += 1
    let hash = RowDigest.hash(row)
    sum &+= hash
    // The sum of another function of the row: two rows that changed places in one would have to do so in both.
    secondSum &+= RowDigest.fold(hash ^ 0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93)
  }

  /// Adds the rows of another part of the table.
  package static func += (digest: inout RowDigest, part: RowDigest) {
    digest.rowCount += part.rowCount
    digest.sum &+= part.sum
    digest.secondSum &+= part.secondSum
  }

  /// Takes rows away that were added before.
  package static func -= (digest: inout RowDigest, part: RowDigest) {
    digest.rowCount -= part.rowCount
    digest.sum &-= part.sum
    digest.secondSum &-= part.secondSum
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = fold(UInt64(bytes.count) ^ 0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB)
    var offset = 0
    while offset + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      hash = fold(hash ^ word, 0x8EBC_6AF0_9C88_C6E3)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return fold(hash ^ rest, 0x5899_65CC_7537_4CC3)
  }

  /// Both halves of a product: every bit of a factor changes about half of those of the result.
  private static func fold(_ lhs: UInt64, _ rhs: UInt64) -> UInt64 {
    // A factor of zero would forget the other.
    let product = (lhs | 1 << 63).multipliedFullWidth(by: rhs)
    return product.high ^ product.low ^ lhs
  }

  /// Thirty-two digits in hexadecimal.
  package var description: String {
    [sum, secondSum].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
#endif
