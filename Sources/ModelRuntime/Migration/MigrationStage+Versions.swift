extension MigrationStage {
  /// The version the step starts from.
  package var fromVersion: any VersionedSchema.Type {
    switch self {
    case .lightweight(let from, _), .custom(let from, _, _, _): from
    }
  }

  /// The version the step leads to.
  package var toVersion: any VersionedSchema.Type {
    switch self {
    case .lightweight(_, let to), .custom(_, let to, _, _): to
    }
  }

  /// Whether the step leads from a version to itself, as in plans that are copied to begin with: it is never taken.
  var isIdle: Bool { ObjectIdentifier(fromVersion) == ObjectIdentifier(toVersion) }

  /// Whether an app's code runs before or after the step.
  package var runsCode: Bool {
    if case .custom(_, _, let will, let did) = self { return will != nil || did != nil }
    return false
  }
}
