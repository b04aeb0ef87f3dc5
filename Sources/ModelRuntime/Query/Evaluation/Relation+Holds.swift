extension QueryExpression.Relation {
  /// Whether two optional values are in the relation.
  ///
  /// Optionals are compared only for equality; an order never holds if one side is nil.
  func holds<T: Comparable>(_ lhs: T?, _ rhs: T?) -> Bool {
    switch self {
    case .equal: return lhs == rhs
    case .notEqual: return lhs != rhs
    default:
      guard let lhs, let rhs else { return false }
      return holds(lhs, rhs)
    }
  }

  @inline(__always)
  func holds<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool {
    switch self {
    case .equal: lhs == rhs
    case .notEqual: lhs != rhs
    case .less: lhs < rhs
    case .lessOrEqual: lhs <= rhs
    case .greater: lhs > rhs
    case .greaterOrEqual: lhs >= rhs
    }
  }

  package func holds(_ lhs: QueryValue, _ rhs: QueryValue, as kind: QueryKind) -> Bool {
    switch self {
    case .equal: return lhs == rhs
    case .notEqual: return lhs != rhs
    case .less: return lhs.precedes(rhs, as: kind)
    case .greater: return rhs.precedes(lhs, as: kind)
    // Not the negation of the opposite: NaN has no order.
    case .lessOrEqual: return lhs.precedes(rhs, as: kind) || lhs == rhs
    case .greaterOrEqual: return rhs.precedes(lhs, as: kind) || lhs == rhs
    }
  }
}
