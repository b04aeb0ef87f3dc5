package import RowFormat

extension RowReference {
  /// The greatest key a store can hold: 2³⁸ places in the index are already two terabytes.
  @inlinable package static var maximumStoredKey: UInt64 { 1 << 38 - 1 }
}
