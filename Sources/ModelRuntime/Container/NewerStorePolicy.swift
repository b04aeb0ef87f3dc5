package import Foundation

/// What a container does with a store that was written with a newer version of the schema than its own.
///
/// A version is newer by its number, which a ``VersionedSchema`` or the argument `version:` of a ``Schema`` gives it.
public enum NewerStorePolicy: Sendable, Hashable {
  /// Opening throws ``SwiftDataError/backwardMigration``, and the store stays as it is.
  ///
  /// So an older program that is started once more, by a rollback or a forgotten timer, does no harm.
  case refuse
  /// The store becomes one of the older version: what that lacks stays hidden in it, and is there again when the
  /// newer version comes back.
  ///
  /// Rows that the older version saves lose the values of properties it does not know. When the newer version
  /// comes back with a plan, the stages run again, the code of custom ones included.
  case takeBack
}

/// A configuration of a store in a folder, which no other configuration of the container may have.
package protocol FolderConfiguring: DataStoreConfiguration {
  /// The folder; `nil` for a store without one.
  var folder: URL? { get }
}
