import RowFormat

/// A set of blob numbers: one bit each, in pages that are created as needed.
///
/// Numbers are allocated in order, so those in use are close together: a million of them take some hundred kilobytes.
package struct BlobSet: Sendable {
  private static let numbersPerPage: UInt64 = 4096
  private var pages: [UInt64: [UInt64]] = [:]

  package init() {}

  package mutating func insert(_ id: BlobID) {
    let (page, bit) = id.rawValue.quotientAndRemainder(dividingBy: BlobSet.numbersPerPage)
    let words = Int(BlobSet.numbersPerPage / 64)
    pages[page, default: [UInt64](repeating: 0, count: words)][Int(bit / 64)] |= 1 << (bit % 64)
  }

  package func contains(_ id: BlobID) -> Bool {
    let (page, bit) = id.rawValue.quotientAndRemainder(dividingBy: BlobSet.numbersPerPage)
    return pages[page].map { $0[Int(bit / 64)] & 1 << (bit % 64) != 0 } ?? false
  }
}
