/// The number of a pack; never reused, and never that of a segment of the log.
public struct PackID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt32

  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  @inlinable public static func < (lhs: PackID, rhs: PackID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The place of a row in a pack.
public struct PackAddress: Hashable, Comparable, Sendable {
  /// The number of its block, from 0 in the order of the file; below ``PackFormat/blockLimit``.
  public var block: Int
  /// The number of the row in the block, from 0.
  public var row: Int

  /// Creates the address of a row.
  @inlinable public init(block: Int, row: Int) {
    self.block = block
    self.row = row
  }

  @inlinable public static func < (lhs: PackAddress, rhs: PackAddress) -> Bool {
    (lhs.block, lhs.row) < (rhs.block, rhs.row)
  }
}
