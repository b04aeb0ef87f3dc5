/// The reason a predicate or a sort has no form over rows; the context then evaluates it on objects.
package enum Untranslatable: Error {
  /// A node of an unknown type.
  case node(String)
  /// A property that is not stored: computed, or transient.
  case property(String)
  /// A constant or an attribute whose type has no column of its own.
  case value(String)
  /// A construct that is supported, but not in this place.
  case combination(String)

  /// The part of the question that it is about.
  var subject: String {
    switch self {
    case .node(let text), .property(let text), .value(let text), .combination(let text): text
    }
  }
}
