import Foundation

extension PredicateExpressions.SequenceContains: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let element = try element.translate(translation)
    switch try sequence.translate(translation) {
    case .constants(let values): return .membership(try element.asValue(), values)
    case .list(let list):
      guard case .row(let path) = element else { throw .combination("a list's member") }
      let member = RowPath(level: translation.level + 1, descriptor: list.element)
      return .exists(
        list,
        where: .comparison(.equal, .identifier(member), .identifier(path), .identifier)
      )
    case let sequence:
      try QueryExpression.checkIsTyped(RHS.Output.self)
      return .combined(
        try sequence.asValue(),
        try element.asValue(),
        .init(name: "contains") { sequence, element in
          guard let sequence = sequence.typed(as: LHS.Output.self),
            let element = element.typed(as: RHS.Output.self)
          else { return .null }
          return .bool(sequence.contains(element))
        }
      )
    }
  }
}

extension PredicateExpressions.SequenceContainsWhere: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    switch try sequence.translate(translation) {
    case .list(let list):
      return .exists(list, where: try translation.element(variable.key, of: list, in: test))
    case .constants(let values):
      let tests = try translation.elements(variable.key, values, in: test)
      return tests.dropFirst().reduce(tests.first ?? .bool(false)) { .or($0, $1) }
    default: throw .combination("\(LHS.Output.self).contains(where:)")
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    switch try sequence.translate(translation) {
    case .list(let list):
      let test = try translation.element(variable.key, of: list, in: test)
      return .not(.exists(list, where: .not(test)))
    case .constants(let values):
      let tests = try translation.elements(variable.key, values, in: test)
      return tests.dropFirst().reduce(tests.first ?? .bool(true)) { .and($0, $1) }
    default: throw .combination("\(LHS.Output.self).allSatisfy")
    }
  }
}

extension PredicateExpressions.Filter: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard case .list(var list) = try sequence.translate(translation) else {
      throw .combination("\(LHS.Output.self).filter")
    }
    let test = try translation.element(variable.key, of: list, in: filter)
    list.condition = list.condition.map { .and($0, test) } ?? test
    return .list(list)
  }
}

extension PredicateExpressions.SequenceMinimum: QueryTranslatable
where Elements: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .extreme(of: elements.translate(translation), Elements.Output.Element.self) { $0 }
  }
}

extension PredicateExpressions.SequenceMaximum: QueryTranslatable
where Elements: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .extreme(of: elements.translate(translation), Elements.Output.Element.self) { !$0 }
  }
}

extension QueryExpression {
  /// The least or the greatest of some constants.
  fileprivate static func extreme(
    of sequence: QueryExpression,
    _ type: any Any.Type,
    _ isWanted: (Bool) -> Bool
  ) throws(Untranslatable) -> QueryExpression {
    guard case .constants(let values) = sequence, let kind = queryKind(of: type), kind.isOrdered
    else { throw .combination("the extreme of a sequence that is not captured") }
    var found = QueryValue.null
    for value in values where found.isNull || isWanted(value.precedes(found, as: kind)) {
      found = value
    }
    return .constant(found)
  }
}

extension QueryTranslation {
  /// Translates the closure of a captured sequence, once for each element.
  fileprivate func elements<Body: QueryTranslatable>(
    _ variable: PredicateExpressions.VariableID,
    _ values: [QueryValue],
    in body: Body
  ) throws(Untranslatable) -> [QueryExpression] {
    // Beyond this, a tree for each element costs more than objects do.
    guard values.count <= 64 else { throw .combination("a closure over \(values.count) constants") }
    var tests: [QueryExpression] = []
    for value in values {
      var inner = self
      inner.bind(variable, to: .constant(value))
      tests.append(try body.translate(inner))
    }
    return tests
  }
}
