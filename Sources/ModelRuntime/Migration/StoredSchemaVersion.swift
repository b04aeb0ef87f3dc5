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

  /// Reads a ``description``; `nil` if the text is none.
  package init?(_ description: String) {
    let parts = description.split(separator: " ")
    let numbers = parts.first?.split(separator: ".").compactMap { Int($0) } ?? []
    guard parts.count == 2, numbers.count == 3, parts[1].count == 18,
      let checksum = UInt64(parts[1].dropFirst().dropLast(), radix: 16)
    else { return nil }
    self.init(
      version: Schema.Version(numbers[0], numbers[1], numbers[2]),
      checksum: checksum
    )
  }

  package var description: String {
    let digits = String(checksum, radix: 16)
    return "\(version) (\(String(repeating: "0", count: 16 - digits.count))\(digits))"
  }
}
