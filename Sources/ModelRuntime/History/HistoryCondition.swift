import Foundation

/// A part of a predicate on transactions that a store understands.
enum HistoryCondition {
  case token(HistoryRelation, DefaultHistoryToken)
  case number(HistoryRelation, Int64)
  case test(HistoryTest)

  /// Collects the conditions that must hold together.
  ///
  /// - Returns: Whether they cover the whole expression.
  static func collect(from expression: Any, into conditions: inout [HistoryCondition]) -> Bool {
    guard let node = expression as? any HistoryConditional else { return false }
    return node.collect(into: &conditions)
  }

  fileprivate init?(_ lhs: Any, _ relation: HistoryRelation, _ rhs: Any) {
    if let property = HistoryOperand.property(lhs), let constant = HistoryOperand.constant(rhs) {
      self.init(property, relation, constant)
    } else if let property = HistoryOperand.property(rhs),
      let constant = HistoryOperand.constant(lhs)
    {
      self.init(property, relation.mirrored, constant)
    } else {
      return nil
    }
  }

  private init?(_ property: AnyKeyPath, _ relation: HistoryRelation, _ constant: Any) {
    switch property {
    case \DefaultHistoryTransaction.token:
      guard let token = constant as? DefaultHistoryToken else { return nil }
      self = .token(relation, token)
    case \DefaultHistoryTransaction.transactionIdentifier, \DefaultHistoryTransaction.id:
      guard let number = constant as? Int64 else { return nil }
      self = .number(relation, number)
    case \DefaultHistoryTransaction.timestamp:
      guard let date = constant as? Date else { return nil }
      self = .test(.timestamp(relation, date))
    case \DefaultHistoryTransaction.author:
      guard relation == .equal, let author = constant as? String? else { return nil }
      self = .test(.author(author, isEqual: true))
    default: return nil
    }
  }

  /// The condition that holds if this one does not.
  fileprivate var negated: HistoryCondition? {
    switch self {
    case .token(let relation, let token): relation.negated.map { .token($0, token) }
    case .number(let relation, let number): relation.negated.map { .number($0, number) }
    case .test(.timestamp(let relation, let date)):
      relation.negated.map { .test(.timestamp($0, date)) }
    case .test(.author(let author, let isEqual)): .test(.author(author, isEqual: !isEqual))
    }
  }
}

// MARK: The nodes

/// A node of a predicate's tree that expresses a condition a store understands.
private protocol HistoryConditional {
  func collect(into conditions: inout [HistoryCondition]) -> Bool
}

extension PredicateExpressions.Conjunction: HistoryConditional {
  fileprivate func collect(into conditions: inout [HistoryCondition]) -> Bool {
    let isLeftComplete = HistoryCondition.collect(from: lhs, into: &conditions)
    let isRightComplete = HistoryCondition.collect(from: rhs, into: &conditions)
    return isLeftComplete && isRightComplete
  }
}

extension PredicateExpressions.Comparison: HistoryConditional {
  fileprivate func collect(into conditions: inout [HistoryCondition]) -> Bool {
    let relation: HistoryRelation =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      }
    return conditions.append(HistoryCondition(lhs, relation, rhs))
  }
}

extension PredicateExpressions.Equal: HistoryConditional {
  fileprivate func collect(into conditions: inout [HistoryCondition]) -> Bool {
    conditions.append(HistoryCondition(lhs, .equal, rhs))
  }
}

extension PredicateExpressions.NotEqual: HistoryConditional {
  fileprivate func collect(into conditions: inout [HistoryCondition]) -> Bool {
    conditions.append(HistoryCondition(lhs, .equal, rhs)?.negated)
  }
}

extension PredicateExpressions.Negation: HistoryConditional {
  fileprivate func collect(into conditions: inout [HistoryCondition]) -> Bool {
    var inner: [HistoryCondition] = []
    guard HistoryCondition.collect(from: wrapped, into: &inner), inner.count == 1 else {
      return false
    }
    return conditions.append(inner[0].negated)
  }
}

extension [HistoryCondition] {
  /// - Returns: Whether there was a condition.
  fileprivate mutating func append(_ condition: HistoryCondition?) -> Bool {
    guard let condition else { return false }
    append(condition)
    return true
  }
}

// MARK: Operands

private enum HistoryOperand {
  /// The property of the tested transaction that an expression reads.
  static func property(_ expression: Any) -> AnyKeyPath? {
    (expression as? any HistoryPath)?.property
  }

  /// The value of an expression that does not depend on the transaction.
  static func constant(_ expression: Any) -> Any? {
    (expression as? any HistoryConstant)?.constant
  }
}

private protocol HistoryPath {
  var property: AnyKeyPath? { get }
}

private protocol HistoryConstant {
  var constant: Any? { get }
}

extension PredicateExpressions.KeyPath: HistoryPath, HistoryConstant {
  fileprivate var property: AnyKeyPath? {
    root is PredicateExpressions.Variable<DefaultHistoryTransaction> ? keyPath : nil
  }

  fileprivate var constant: Any? {
    guard let root = HistoryOperand.constant(root) as? Root.Output else { return nil }
    return root[keyPath: keyPath]
  }
}

extension PredicateExpressions.Value: HistoryConstant {
  fileprivate var constant: Any? { .some(value) }
}

extension PredicateExpressions.NilLiteral: HistoryConstant {
  fileprivate var constant: Any? { .some(Optional<String>.none as Any) }
}

extension PredicateExpressions.ForcedUnwrap: HistoryConstant {
  fileprivate var constant: Any? { HistoryOperand.constant(inner) as? Output }
}
