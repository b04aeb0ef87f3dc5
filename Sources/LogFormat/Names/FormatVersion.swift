/// The format version that this code writes, and the features it knows.
enum FormatVersion {
  static let major: UInt16 = 1
  static let minor: UInt16 = 0
  /// Segments were packed: a manifest with this feature has a ``LogBase``.
  static let packs: UInt64 = 1
  /// The incompatible features that this code knows.
  static let knownFeatures: UInt64 = packs
}
