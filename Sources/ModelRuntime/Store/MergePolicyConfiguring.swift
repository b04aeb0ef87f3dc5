/// A configuration that says what contexts do with attributes that others have changed.
///
/// A configuration that does not conform stands for ``MergePolicy/lastWriter``.
public protocol MergePolicyConfiguring: DataStoreConfiguration {
  /// What a save does with an attribute that another save has changed since the context read it.
  var mergePolicy: MergePolicy { get }
}
