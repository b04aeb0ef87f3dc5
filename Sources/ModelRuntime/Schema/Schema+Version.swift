extension Schema {
  /// The version of a schema, as in semantic versioning.
  public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
    /// Counts the changes that an older app cannot read.
    public let major: Int
    /// Counts the changes within a major version.
    public let minor: Int
    /// Counts the corrections within a minor version.
    public let patch: Int

    /// Creates a version.
    ///
    /// - Parameters:
    ///   - major: The major number.
    ///   - minor: The minor number.
    ///   - patch: The patch number.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    public var description: String { "\(major).\(minor).\(patch)" }

    public static func < (lhs: Version, rhs: Version) -> Bool {
      (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
    }
  }
}
