/// Why a predicate or a sort has no form over rows; the context then evaluates it on objects.
package enum Untranslatable: Error {
  /// A node of a type that is not known here.
  case node(String)
  /// A property that is not stored: computed, or transient.
  case property(String)
  /// A constant or an attribute whose type has no column of its own.
  case value(String)
  /// Something that is understood by itself, and not where it is.
  case combination(String)
}
