extension Schema.Entity {
  /// Sets the names of the properties that the derived attributes read.
  ///
  /// - Parameter byName: The schema's entities.
  /// - Returns: The errors in the derivations; none for an entity without a class.
  func linkDerivations(_ byName: [String: Schema.Entity]) -> [SwiftDataError] {
    var isDeriving = false
    for case let attribute as Schema.Attribute in storedProperties {
      guard let derivation = attribute.derivation else { continue }
      isDeriving = true
      let source = derivation.source.flatMap { propertyName(for: $0.keyPath) }
      let list = source.flatMap { property(named: $0) } as? Schema.Relationship
      let members = list.flatMap { byName[$0.destination] }
      attribute.derivationNames = Schema.Derivation.Names(
        kind: derivation.kind,
        source: source,
        summand: derivation.summand.flatMap { members?.propertyName(for: $0.keyPath) }
      )
    }
    guard isDeriving, let modelType else { return [] }
    return Schema.Derivation.problems(of: modelType)
  }
}
