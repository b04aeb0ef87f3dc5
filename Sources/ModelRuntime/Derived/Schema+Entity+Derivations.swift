extension Schema.Entity {
  /// Gives the derived attributes the names of what they read.
  ///
  /// - Parameter byName: The schema's entities.
  /// - Returns: What is wrong with them; of an entity without a class, nothing.
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
