/// A configuration with a policy for attributes that others have changed.
///
/// A configuration that does not conform uses ``MergePolicy/lastWriter``.
public protocol MergePolicyConfiguring: DataStoreConfiguration {
  /// The policy of a save for an attribute that another save has changed since the context read it.
  var mergePolicy: MergePolicy { get }
}
