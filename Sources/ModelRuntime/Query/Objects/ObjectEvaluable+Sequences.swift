import Foundation

// The nodes that test sequences and texts.

extension PredicateExpressions.SequenceContains: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let sequence = sequence.makeEvaluator()
    let element = element.makeEvaluator()
    return { try sequence($0).contains(element($0)) }
  }
}

extension PredicateExpressions.SequenceContainsWhere: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let sequence = sequence.makeEvaluator()
    let test = test.makeEvaluator()
    let variable = variable
    return { bindings in
      try sequence(bindings).contains { try test(bindings.binding(variable, to: $0)) }
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let sequence = sequence.makeEvaluator()
    let test = test.makeEvaluator()
    let variable = variable
    return { bindings in
      try sequence(bindings).allSatisfy { try test(bindings.binding(variable, to: $0)) }
    }
  }
}

extension PredicateExpressions.Filter: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let sequence = sequence.makeEvaluator()
    let test = filter.makeEvaluator()
    let variable = variable
    return { bindings in
      try sequence(bindings).filter { try test(bindings.binding(variable, to: $0)) }
    }
  }
}

extension PredicateExpressions.SequenceMinimum: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let elements = elements.makeEvaluator()
    return { try elements($0).min() }
  }
}

extension PredicateExpressions.SequenceMaximum: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let elements = elements.makeEvaluator()
    return { try elements($0).max() }
  }
}

extension PredicateExpressions.SequenceStartsWith: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let base = base.makeEvaluator()
    let prefix = prefix.makeEvaluator()
    return { try base($0).starts(with: prefix($0)) }
  }
}

extension PredicateExpressions.CollectionContainsCollection: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let base = base.makeEvaluator()
    let other = other.makeEvaluator()
    return { try base($0).contains(other($0)) }
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let root = root.makeEvaluator()
    let other = other.makeEvaluator()
    return { try root($0).localizedStandardContains(other($0)) }
  }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<ComparisonResult> {
    let root = root.makeEvaluator()
    let other = other.makeEvaluator()
    return { try root($0).caseInsensitiveCompare(other($0)) }
  }
}

extension PredicateExpressions.StringLocalizedCompare: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<ComparisonResult> {
    let root = root.makeEvaluator()
    let other = other.makeEvaluator()
    return { try root($0).localizedCompare(other($0)) }
  }
}
