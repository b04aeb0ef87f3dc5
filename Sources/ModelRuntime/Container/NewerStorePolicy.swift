/// The policy for opening a store that was written with a newer version of the schema than the container's.
///
/// A version is newer by its number, which a ``VersionedSchema`` or the argument `version:` of a ``Schema`` gives it.
public enum NewerStorePolicy: Sendable, Hashable {
  /// Opening throws ``SwiftDataError/backwardMigration``, and the store stays as it is.
  ///
  /// An older program started by accident, by a rollback or a forgotten timer, thus does no harm.
  case refuse
  /// The store takes the older version: anything that version lacks stays hidden in the store, and reappears when the
  /// newer version comes back.
  ///
  /// Rows that the older version saves lose the values of properties it does not know. When the newer version
  /// comes back with a plan, the stages run again, the code of custom ones included.
  case takeBack
}
