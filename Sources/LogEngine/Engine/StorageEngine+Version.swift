extension StorageEngine {
  /// The version of this package, by semantic versioning: the first one in `.github/CHANGELOG.md`.
  ///
  /// It is independent of the file format, which has its own version: stores written by any version stay readable.
  public static let version = "0.1.0"
}
