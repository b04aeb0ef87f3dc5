/// A store that can tell whether its opening would be refused, so that a container with several stores changes none of them
/// if it cannot open all.
package protocol RehearsingStore: DataStore {
  /// Decides whether a store could be opened, and leaves it as it is.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, with its schema.
  ///   - migrationPlan: The plan of the container.
  /// - Throws: The error of an opening that is refused because of its models.
  static func rehearse(
    _ configuration: Configuration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws
}
