/// Entities are equal when they describe the same shape, independent of their classes.
extension Schema.Entity: Hashable {
  public static func == (lhs: Schema.Entity, rhs: Schema.Entity) -> Bool {
    lhs === rhs
      || lhs.name == rhs.name && lhs.superentityName == rhs.superentityName
        && lhs.uniquenessConstraints == rhs.uniquenessConstraints && lhs.indices == rhs.indices
        && areEqual(lhs.storedProperties, rhs.storedProperties)
        && Set(lhs.subentities.map(\.name)) == Set(rhs.subentities.map(\.name))
  }

  private static func areEqual(_ left: [any SchemaProperty], _ right: [any SchemaProperty]) -> Bool
  {
    func erased(_ property: some SchemaProperty) -> AnyHashable { AnyHashable(property) }
    return left.map { erased($0) } == right.map { erased($0) }
  }

  // By name alone: subentities are members of sets while their properties are still being filled in.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Schema.Entity: CustomDebugStringConvertible {
  public var debugDescription: String {
    "Schema.Entity(\(name)\(superentityName.map { ": \($0)" } ?? ""), "
      + "\(storedProperties.map { "\($0)" }.joined(separator: ", ")))"
  }
}
