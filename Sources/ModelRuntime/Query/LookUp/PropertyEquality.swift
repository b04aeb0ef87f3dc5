package import Foundation

/// A node that compares a property of the tested row with a captured value, and reports so without being translated.
///
/// It is accessed through its type, whose conformance was checked once: a cast costs as much as looking a row up.
protocol PropertyEquality: PredicateExpression {
  /// The property and the value; `nil` for a value whose translation differs from itself.
  var parts: PropertyEqualityParts? { get }
}

/// The operands of a node's comparison.
struct PropertyEqualityParts {
  /// The variable with the property.
  let variable: PredicateExpressions.VariableID
  let keyPath: AnyKeyPath
  let value: QueryValue
}

/// A node that is a property of a variable.
protocol VariableProperty: PredicateExpression {
  var variable: PredicateExpressions.VariableID { get }
  var anyKeyPath: AnyKeyPath { get }
}

/// A node that is a variable.
protocol PlainVariable: PredicateExpression {
  var key: PredicateExpressions.VariableID { get }
}

/// A node that is a captured value.
protocol CapturedValue: PredicateExpression {
  /// The value, if its kind compares for equality here as in Swift.
  var plainValue: QueryValue? { get }
}

extension PredicateExpressions.Equal: PropertyEquality
where LHS: VariableProperty, RHS: CapturedValue {
  var parts: PropertyEqualityParts? {
    guard let value = rhs.plainValue else { return nil }
    return PropertyEqualityParts(variable: lhs.variable, keyPath: lhs.anyKeyPath, value: value)
  }
}

extension PredicateExpressions.KeyPath: VariableProperty where Root: PlainVariable {
  var variable: PredicateExpressions.VariableID { root.key }
  var anyKeyPath: AnyKeyPath { keyPath }
}

extension PredicateExpressions.Variable: PlainVariable {}

extension PredicateExpressions.Value: CapturedValue {
  var plainValue: QueryValue? {
    if Output.self == String.self, let text = value as? String { return .text(text) }
    if Output.self == Int.self, let number = value as? Int { return .integer(Int64(number)) }
    if Output.self == UUID.self, let identifier = value as? UUID { return identifier.queryValue }
    return nil
  }
}
