extension StorageEngine {
  /// The version of this package, by semantic versioning: what `.github/CHANGELOG.md` describes first.
  ///
  /// It says nothing of the format of files, which has a version of its own: stores written by any version
  /// stay readable.
  public static let version = "0.1.0"
}
