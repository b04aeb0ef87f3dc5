/// What a store remembers of the schema it was written with.
package struct StoredSchemaVersion: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The number its author gave it; two shapes may bear the same, one shape several.
  package let version: Schema.Version
  /// The checksum of its shape, by which it is recognised.
  package let checksum: UInt64

  package init(version: Schema.Version, checksum: UInt64) {
    self.version = version
    self.checksum = checksum
  }

  package init(_ schema: Schema) {
    self.init(version: schema.version, checksum: schema.checksum)
  }

  package var description: String {
    let digits = String(checksum, radix: 16)
    return "\(version) (\(String(repeating: "0", count: 16 - digits.count))\(digits))"
  }
}
