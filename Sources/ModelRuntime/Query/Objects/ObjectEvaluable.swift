import Foundation

/// Evaluates a node of a predicate's tree.
typealias NodeEvaluator<Output> = (PredicateBindings) throws -> Output

/// A node of a predicate's tree that is evaluated here instead of by Foundation.
///
/// A predicate that cannot be translated, for instance because it reads a computed property, is evaluated on objects.
/// `Predicate.evaluate` would trap on arithmetic without a result; these nodes throw ``QueryFailure`` instead, anywhere in
/// the tree. An unknown node is Foundation's, with everything below it.
protocol ObjectEvaluable: PredicateExpression {
  func makeObjectEvaluator() -> NodeEvaluator<Output>
}

extension PredicateExpression {
  /// Makes the evaluator of this node and those below it; each node is inspected once, here.
  func makeEvaluator() -> NodeEvaluator<Output> {
    func open<Node: ObjectEvaluable>(_ node: Node) -> Any { node.makeObjectEvaluator() }
    if let node = self as? any ObjectEvaluable, let own = open(node) as? NodeEvaluator<Output> {
      return own
    }
    return { try self.evaluate($0) }
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    let compute = exactOperation(Output.self)
    return { try compute(lhs($0), rhs($0)) }
  }

  private func exactOperation(_ type: Output.Type) -> (Output, Output) throws -> Output {
    let op = op
    if let integer = type as? any FixedWidthInteger.Type,
      let compute = ExactInteger.operation(QueryExpression.Arithmetic(op), integer)
        as? (Output, Output) throws -> Output
    {
      return compute
    }
    return { lhs, rhs in
      switch op {
      case .add: lhs + rhs
      case .subtract: lhs - rhs
      case .multiply: lhs * rhs
      @unknown default: throw QueryFailure.overflow
      }
    }
  }
}

extension PredicateExpressions.IntDivision: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    ExactInteger.evaluator(.divide, lhs.makeEvaluator(), rhs.makeEvaluator())
  }
}

extension PredicateExpressions.IntRemainder: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    ExactInteger.evaluator(.remainder, lhs.makeEvaluator(), rhs.makeEvaluator())
  }
}

extension PredicateExpressions.FloatDivision: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    return { try lhs($0) / rhs($0) }
  }
}

extension PredicateExpressions.UnaryMinus: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    if let integer = Output.self as? any FixedWidthInteger.Type,
      let subtract = ExactInteger.operation(.subtract, integer)
        as? (Output, Output) throws -> Output
    {
      return { try subtract(.zero, wrapped($0)) }
    }
    return { try -wrapped($0) }
  }
}

/// Integer operations that throw where Swift's operators trap.
private enum ExactInteger {
  static func evaluator<T: BinaryInteger>(
    _ operation: QueryExpression.Arithmetic,
    _ lhs: @escaping NodeEvaluator<T>,
    _ rhs: @escaping NodeEvaluator<T>
  ) -> NodeEvaluator<T> {
    if let integer = T.self as? any FixedWidthInteger.Type,
      let compute = self.operation(operation, integer) as? (T, T) throws -> T
    {
      return { try compute(lhs($0), rhs($0)) }
    }
    return { bindings in
      let divisor = try rhs(bindings)
      let value = try lhs(bindings)
      if divisor == 0 { throw QueryFailure.overflow }
      return operation == .divide ? value / divisor : value % divisor
    }
  }

  /// The operation of a type, as a function of two of its values.
  static func operation<T: FixedWidthInteger>(
    _ operation: QueryExpression.Arithmetic,
    _: T.Type
  ) -> Any {
    let compute: (T, T) throws -> T = { lhs, rhs in
      let (result, overflow) =
        switch operation {
        case .add: lhs.addingReportingOverflow(rhs)
        case .subtract: lhs.subtractingReportingOverflow(rhs)
        case .multiply: lhs.multipliedReportingOverflow(by: rhs)
        case .divide: lhs.dividedReportingOverflow(by: rhs)
        case .remainder: lhs.remainderReportingOverflow(dividingBy: rhs)
        }
      if overflow { throw QueryFailure.overflow }
      return result
    }
    return compute
  }
}

extension QueryExpression.Arithmetic {
  fileprivate init(_ operation: PredicateExpressions.ArithmeticOperator) {
    switch operation {
    case .add: self = .add
    case .subtract: self = .subtract
    case .multiply: self = .multiply
    @unknown default: preconditionFailure("an operator that is neither of three: \(operation)")
    }
  }
}
