import Foundation

extension Predicate {
  /// Whether another predicate is equivalent: the same nodes around the same key paths and equal captured values.
  ///
  /// - Returns: `false` also if a captured value cannot be compared, such as a closure.
  func asksTheSame(as other: Self) -> Bool {
    var comparison = PredicateComparison()
    return comparison.areSame(self, other)
  }
}

/// The comparison of two predicates, part by part.
///
/// A predicate's description does not identify it: Foundation traps on nodes of other modules, and key paths print
/// alike if symbols are not exported. Nor does its translation, which not every predicate has, and which holds functions.
/// So the nodes are compared by their types and stored properties: no kind of node needs code of its own here, and none
/// can forget a property. A part whose content is not visible differs from every other.
private struct PredicateComparison {
  /// The variable of the other tree for each of the first one: every tree has its own.
  private var counterparts: [PredicateExpressions.VariableID: PredicateExpressions.VariableID] = [:]
  private var taken: Set<PredicateExpressions.VariableID> = []

  mutating func areSame(_ lhs: Any, _ rhs: Any) -> Bool {
    guard type(of: lhs) == type(of: rhs) else { return false }
    if let lhs = lhs as? PredicateExpressions.VariableID,
      let rhs = rhs as? PredicateExpressions.VariableID
    {
      return areCounterparts(lhs, rhs)
    }
    if let lhs = lhs as? any Equatable { return lhs.isEqual(to: rhs) }
    if let lhs = lhs as? any ComparedByParts, let rhs = rhs as? any ComparedByParts {
      return areAllSame(lhs.parts, rhs.parts)
    }
    return haveSameContents(lhs, rhs)
  }

  private mutating func haveSameContents(_ lhs: Any, _ rhs: Any) -> Bool {
    let (left, right) = (Mirror(reflecting: lhs), Mirror(reflecting: rhs))
    switch left.displayStyle {
    case .class: return lhs as AnyObject === rhs as AnyObject
    case .optional: break
    // A type with custom mirrors may omit something.
    case _ where lhs is any CustomReflectable: return false
    case .struct, .tuple: if left.children.isEmpty && !isEmpty(lhs) { return false }
    // The label of a payload names the case; a case without a payload has no name.
    case .enum: if left.children.isEmpty { return false }
    default: return false
    }
    return left.children.map(\.label) == right.children.map(\.label)
      && areAllSame(left.children.map(\.value), right.children.map(\.value))
  }

  private mutating func areAllSame(_ lhs: [Any], _ rhs: [Any]) -> Bool {
    guard lhs.count == rhs.count else { return false }
    for (lhs, rhs) in zip(lhs, rhs) where !areSame(lhs, rhs) { return false }
    return true
  }

  /// Whether two variables have the same place in their trees, everywhere.
  private mutating func areCounterparts(
    _ lhs: PredicateExpressions.VariableID,
    _ rhs: PredicateExpressions.VariableID
  ) -> Bool {
    if let counterpart = counterparts[lhs] { return counterpart == rhs }
    counterparts[lhs] = rhs
    return taken.insert(rhs).inserted
  }

  private func isEmpty(_ value: Any) -> Bool {
    func size<T>(of _: T) -> Int { MemoryLayout<T>.size }
    return size(of: value) == 0
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}

// MARK: Values that reflection does not show

private protocol ComparedByParts {
  var parts: [Any] { get }
}

extension Predicate: ComparedByParts {
  fileprivate var parts: [Any] {
    var parts: [Any] = []
    for variable in repeat each variable { parts.append(variable.key) }
    return parts + [expression]
  }
}

extension Foundation.Expression: ComparedByParts {
  fileprivate var parts: [Any] {
    var parts: [Any] = []
    for variable in repeat each variable { parts.append(variable.key) }
    return parts + [expression]
  }
}

extension PredicateExpressions.PredicateRegex: ComparedByParts {
  fileprivate var parts: [Any] { [stringRepresentation] }
}
