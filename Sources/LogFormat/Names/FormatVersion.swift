/// The version of the format this code writes, and what it knows of others.
enum FormatVersion {
  static let major: UInt16 = 1
  static let minor: UInt16 = 0
  /// Segments were packed: a manifest with this feature has a ``LogBase``.
  static let packs: UInt64 = 1
  /// The incompatible features this code knows.
  static let knownFeatures: UInt64 = packs
}
