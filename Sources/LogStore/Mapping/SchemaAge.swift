import ModelRuntime

/// What is known of the age of a schema, compared with the one that wrote the store last.
enum SchemaAge {
  /// They are the same.
  case same
  case newer
  case older
  /// They may be the same, and the one may be older than the other: the schema has no number, or the same.
  case unknown

  /// - Parameters:
  ///   - schema: The schema.
  ///   - stored: What the store remembers; `nil` if it is new.
  ///   - route: What is to be done with the store.
  init(of schema: Schema, comparedWith stored: StoredSchemaVersion?, _ route: MigrationRoute) {
    guard let stored else {
      self = .same
      return
    }
    if route.isPlanned, stored == route.target {
      self = .same
    } else if schema.isVersioned, schema.version != stored.version {
      self = schema.version > stored.version ? .newer : .older
    } else {
      self = .unknown
    }
  }
}
