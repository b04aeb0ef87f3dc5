/// The parts of a schema that a store may have been written with: any of the entities that it has so far.
///
/// A store says which shape wrote it last, by a checksum, and those of former libraries do not say of which entities. An app
/// may have moved entities between its stores in any order.
struct SchemaParts {
  /// The shapes of the entities, in the order in which a schema's shape has them.
  private let shapes: [[UInt8]]

  /// Number of entities up to which all parts are tried: beyond it, they are too many.
  private static let entityLimit = 14

  /// - Parameters:
  ///   - schema: The schema.
  ///   - names: The names of the entities that the store has.
  init(_ schema: Schema, of names: Set<String>) {
    let entities = schema.entities.filter { names.contains($0.name) }
    guard entities.count <= SchemaParts.entityLimit else {
      shapes = []
      return
    }
    shapes = entities.sorted { $0.name < $1.name }.map { Array(SchemaShape($0).description.utf8) }
  }

  /// Whether a checksum is that of a part.
  ///
  /// - Complexity: O(2ⁿ) in the entities.
  func contains(_ checksum: UInt64) -> Bool {
    !shapes.isEmpty && contains(checksum, SchemaShape.emptyChecksum, from: 0)
  }

  private func contains(_ checksum: UInt64, _ hash: UInt64, from index: Int) -> Bool {
    for next in index..<shapes.count {
      let hash = SchemaShape.checksum(of: shapes[next], after: hash)
      if hash == checksum || contains(checksum, hash, from: next + 1) { return true }
    }
    return false
  }
}
