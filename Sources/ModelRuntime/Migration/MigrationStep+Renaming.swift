extension MigrationStep {
  /// Makes sure that a step to an older version keeps the values of renamed properties.
  ///
  /// Newer versions tell what a property was called, and older ones cannot tell what it will be called, unless they are
  /// made to: the property would begin anew. In a custom step the app's code hands the values over.
  ///
  /// - Throws: ``SwiftDataError/migrationUnavailable`` if there is such a property.
  func checkRenaming() throws(SwiftDataError) {
    if isCustom { return }
    for newer in from.entities {
      guard let older = to.entitiesByName[newer.name] else { continue }
      for property in newer.storedProperties {
        guard let former = older.property(named: property.originalName),
          older.property(named: property.name) == nil,
          newer.property(named: former.name) == nil, former.originalName != property.name
        else { continue }
        throw .migrationUnavailable.explained(
          "\(self) would lose the values of \(newer.name).\(property.name), whose older name is \(former.name): "
            + "take a custom stage that hands them over, or declare \(former.name) with "
            + "originalName: \"\(property.name)\" in \(stage.toVersion)",
          entity: newer.name,
          property: property.name
        )
      }
    }
  }
}
