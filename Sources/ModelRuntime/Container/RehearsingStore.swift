/// A store that can tell whether its opening would be refused, so that a container with several stores changes none of them
/// if it cannot open all.
package protocol RehearsingStore: DataStore {
  /// Decides whether a store could be opened, leaves it as it is, and keeps others from it until it is opened.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, with its schema.
  ///   - migrationPlan: The plan of the container.
  /// - Returns: The hold on the store; the thread that has it opens the store.
  /// - Throws: The error of an opening that is refused: because of its models, its place, its files, or others that use it.
  static func rehearse(
    _ configuration: Configuration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> any RehearsedOpening
}

/// The hold on a store between the decision that it can be opened, and its opening.
package protocol RehearsedOpening {
  /// Gives the store back, unless it was opened meanwhile.
  func end()
}
