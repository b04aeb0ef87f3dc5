import Foundation

// The nodes with other nodes below them: arithmetic may occur anywhere in these.

extension PredicateExpressions.Conjunction: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    return { try lhs($0) && rhs($0) }
  }
}

extension PredicateExpressions.Disjunction: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    return { try lhs($0) || rhs($0) }
  }
}

extension PredicateExpressions.Negation: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let wrapped = wrapped.makeEvaluator()
    return { try !wrapped($0) }
  }
}

extension PredicateExpressions.Equal: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    return { try lhs($0) == rhs($0) }
  }
}

extension PredicateExpressions.NotEqual: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    return { try lhs($0) != rhs($0) }
  }
}

extension PredicateExpressions.Comparison: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    let relation = op.relation
    return { try relation.holds(lhs($0), rhs($0)) }
  }
}

extension PredicateExpressions.Conditional: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let test = test.makeEvaluator()
    let then = trueBranch.makeEvaluator()
    let otherwise = falseBranch.makeEvaluator()
    return { try test($0) ? then($0) : otherwise($0) }
  }
}

// MARK: Values

extension PredicateExpressions.Value: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let value = value
    return { _ in value }
  }
}

extension PredicateExpressions.KeyPath: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let root = root.makeEvaluator()
    let keyPath = keyPath as Swift.KeyPath<Root.Output, Output>
    return { try root($0)[keyPath: keyPath] }
  }
}

extension PredicateExpressions.ForcedUnwrap: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let inner = inner.makeEvaluator()
    return {
      guard let value = try inner($0) else { throw QueryFailure.unwrappedNil }
      return value
    }
  }
}

extension PredicateExpressions.NilCoalesce: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let isChain = lhs is any OptionalChain
    let lhs = lhs.makeEvaluator()
    let rhs = rhs.makeEvaluator()
    guard isChain, RHS.Output.self is any AnyOptional.Type else {
      return { try lhs($0) ?? rhs($0) }
    }
    // Where both sides are optional, the types of the nodes make a nil at the end of a chain a value. In Swift it is none.
    return { bindings in
      if let value = try lhs(bindings), (value as? any AnyOptional)?.wrappedValue != nil {
        return value
      }
      return try rhs(bindings)
    }
  }
}

/// A node that is nil where an optional on its way is: `a?.b`.
private protocol OptionalChain {}

extension PredicateExpressions.OptionalFlatMap: OptionalChain {}

extension PredicateExpressions.OptionalFlatMap: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    let variable = variable
    // The closure returns either the result or an optional of it.
    let transform: NodeEvaluator<Result?>
    let given: Any = self.transform.makeEvaluator()
    if let optional = given as? NodeEvaluator<Result?> {
      transform = optional
    } else if let present = given as? NodeEvaluator<Result> {
      transform = { try present($0) }
    } else {
      let node = self
      return { try node.evaluate($0) }
    }
    return { bindings in
      try wrapped(bindings).flatMap { try transform(bindings.binding(variable, to: $0)) }
    }
  }
}

// MARK: Ranges and subscripts

extension PredicateExpressions.Range: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let lower = lower.makeEvaluator()
    let upper = upper.makeEvaluator()
    return { bindings in
      let bounds = (lower: try lower(bindings), upper: try upper(bindings))
      guard bounds.lower <= bounds.upper else { throw QueryFailure.overflow }
      return bounds.lower..<bounds.upper
    }
  }
}

extension PredicateExpressions.ClosedRange: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let lower = lower.makeEvaluator()
    let upper = upper.makeEvaluator()
    return { bindings in
      let bounds = (lower: try lower(bindings), upper: try upper(bindings))
      guard bounds.lower <= bounds.upper else { throw QueryFailure.overflow }
      return bounds.lower...bounds.upper
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let range = range.makeEvaluator()
    let element = element.makeEvaluator()
    return { try range($0).contains(element($0)) }
  }
}

extension PredicateExpressions.CollectionIndexSubscript: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    let index = index.makeEvaluator()
    return { bindings in
      let collection = try wrapped(bindings)
      let index = try index(bindings)
      guard index >= collection.startIndex, index < collection.endIndex else {
        throw QueryFailure.overflow
      }
      return collection[index]
    }
  }
}

extension PredicateExpressions.CollectionRangeSubscript: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    let range = range.makeEvaluator()
    return { bindings in
      let collection = try wrapped(bindings)
      let range = try range(bindings)
      guard range.lowerBound >= collection.startIndex, range.upperBound <= collection.endIndex
      else { throw QueryFailure.overflow }
      return collection[range]
    }
  }
}

extension PredicateExpressions.DictionaryKeySubscript: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    let key = key.makeEvaluator()
    return { try wrapped($0)[key($0)] }
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let wrapped = wrapped.makeEvaluator()
    let key = key.makeEvaluator()
    let fallback = `default`.makeEvaluator()
    return { bindings in try wrapped(bindings)[key(bindings)] ?? fallback(bindings) }
  }
}

// MARK: Classes

extension PredicateExpressions.TypeCheck: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let input = input.makeEvaluator()
    return { try input($0) is Desired }
  }
}

extension PredicateExpressions.ConditionalCast: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let input = input.makeEvaluator()
    return { try input($0) as? Desired }
  }
}

extension PredicateExpressions.ForceCast: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let input = input.makeEvaluator()
    return {
      guard let value = try input($0) as? Desired else { throw QueryFailure.otherClass }
      return value
    }
  }
}
