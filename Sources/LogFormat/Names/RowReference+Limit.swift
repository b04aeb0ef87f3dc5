package import RowFormat

extension RowReference {
  /// The greatest key that a store can contain: 2³⁸ slots of the index already take two terabytes.
  @inlinable package static var maximumStoredKey: UInt64 { 1 << 38 - 1 }
}
