import Foundation

/// Compiles expressions to closures over objects.
///
/// Case by case its result for an object is that of ``ExpressionCompiler`` for its row. The operators are the same
/// functions; only the source of values differs: a row is bytes, an object is read by key path.
struct ObjectExpressionCompiler {
  /// The class of the object of each level; the last one is the innermost list's member.
  var levels: [ModelDescriptor]

  /// The test of an expression that is true, false or null.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - default: The result for null.
  /// - Returns: The test.
  func test(_ expression: QueryExpression, default: Bool = false) -> ObjectTest {
    switch expression {
    case .constant(.bool(let value)): return { _ in value }
    case .constant: return { _ in `default` }
    case .not(let operand):
      let test = test(operand, default: !`default`)
      return { try !test($0) }
    case .and(let lhs, let rhs):
      let lhs = test(lhs)
      let rhs = test(rhs)
      return { try lhs($0) && rhs($0) }
    case .or(let lhs, let rhs):
      let lhs = test(lhs)
      let rhs = test(rhs)
      return { try lhs($0) || rhs($0) }
    case .conditional(let condition, let then, let otherwise):
      let condition = test(condition)
      let then = test(then, default: `default`)
      let otherwise = test(otherwise, default: `default`)
      return { try condition($0) ? then($0) : otherwise($0) }
    case .coalesce(let value, .constant(.bool(let other))): return test(value, default: other)
    case .ifPresent(let value, let then):
      let isNull = nullTest(value)
      let then = test(then, default: `default`)
      return { try isNull($0) ? `default` : then($0) }
    case .comparison(let relation, let lhs, let rhs, let kind):
      return comparisonTest(relation, lhs, rhs, kind)
    case .membership(let value, let constants):
      let value = self.value(value)
      let set = Set(constants)
      return { try set.contains(value($0)) }
    case .isNull(let value): return nullTest(value)
    case .isKind(let path, let descriptor):
      let model = model(path)
      return { try model($0)?.isKind(of: descriptor) ?? false }
    case .text(let question, let text, let other):
      let text = value(text)
      let other = value(other)
      return {
        guard case .text(let text) = try text($0), case .text(let other) = try other($0) else {
          return false
        }
        return question.holds(text, other)
      }
    case .exists(let list, let condition): return existenceTest(list, condition)
    case .behind(let position): return positionTest(position)
    default:
      let value = value(expression)
      return { if case .bool(let value) = try value($0) { value } else { `default` } }
    }
  }

  /// The test whether an expression is null.
  private func nullTest(_ expression: QueryExpression) -> ObjectTest {
    switch expression {
    case .row(let path):
      let model = model(path)
      return { try model($0) == nil }
    case .castRow(let path, let descriptor):
      let model = model(path)
      return { try model($0)?.isKind(of: descriptor) != true }
    case .ifPresent(let condition, let value):
      let isAbsent = nullTest(condition)
      let isNull = nullTest(value)
      return { try isAbsent($0) || isNull($0) }
    default:
      let value = value(expression)
      return { try value($0).isNull }
    }
  }

  private func comparisonTest(
    _ relation: QueryExpression.Relation,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ kind: QueryKind
  ) -> ObjectTest {
    let lhs = value(lhs)
    if case .constant(let constant) = rhs {
      return { try relation.holds(lhs($0), constant, as: kind) }
    }
    let rhs = value(rhs)
    return { try relation.holds(lhs($0), rhs($0), as: kind) }
  }

  /// The reader of any value.
  func value(_ expression: QueryExpression) -> ObjectReader<QueryValue> {
    switch expression {
    case .constant(let constant): return { _ in constant }
    case .column(let path, let reading):
      let property = path.descriptor.properties[reading.column]
      return along(path, missing: { try reading.value(whenMissing: $0) }, property.makeReader())
    case .structured(let path, let reading):
      let property = path.descriptor.properties[reading.column]
      return along(path, missing: { try reading.value(whenMissing: $0) }, property.makeReader())
    case .identifier(let path), .row(let path):
      let model = model(path)
      return { try model($0).map { .identifier($0.persistentModelID) } ?? .null }
    case .conditional(let condition, let then, let otherwise):
      let condition = test(condition)
      let then = value(then)
      let otherwise = value(otherwise)
      return { try condition($0) ? then($0) : otherwise($0) }
    case .coalesce(let first, let second):
      let first = value(first)
      let second = value(second)
      return {
        let value = try first($0)
        return try value.isNull ? second($0) : value
      }
    case .ifPresent(let condition, let then):
      let isAbsent = nullTest(condition)
      let then = value(then)
      return { try isAbsent($0) ? .null : then($0) }
    case .unwrapped(let operand):
      let value = value(operand)
      return {
        let value = try value($0)
        if value.isNull { throw QueryFailure.unwrappedNil }
        return value
      }
    case .arithmetic(let operation, let lhs, let rhs, let kind):
      let lhs = value(lhs)
      let rhs = value(rhs)
      return arithmeticReader(operation, lhs, rhs, kind)
    case .textComparison(let comparison, let lhs, let rhs):
      let lhs = value(lhs)
      let rhs = value(rhs)
      return {
        guard case .text(let lhs) = try lhs($0), case .text(let rhs) = try rhs($0) else {
          return .null
        }
        return .integer(Int64(comparison.compare(lhs, rhs).rawValue))
      }
    case .count(let list):
      let count = countReader(list)
      return { try .integer(Int64(count($0))) }
    case .mapped(let operand, let map):
      let value = value(operand)
      return { try map.apply(value($0)) }
    case .combined(let lhs, let rhs, let combination):
      let lhs = value(lhs)
      let rhs = value(rhs)
      return { try combination.apply(lhs($0), rhs($0)) }
    case .castRow, .list, .constants, .range:
      // The translation puts none of these in the place of a value.
      return { _ in throw QueryFailure.otherClass }
    case .comparison, .membership, .isNull, .isKind, .not, .and, .or, .text, .exists, .behind:
      let test = test(expression)
      return { try .bool(test($0)) }
    }
  }
}

// MARK: Numbers

extension ObjectExpressionCompiler {
  private func arithmeticReader(
    _ operation: QueryExpression.Arithmetic,
    _ lhs: @escaping ObjectReader<QueryValue>,
    _ rhs: @escaping ObjectReader<QueryValue>,
    _ kind: QueryKind
  ) -> ObjectReader<QueryValue> {
    if kind == .integer || kind == .unsigned {
      let compute = operation.integerOperation(isSigned: kind == .integer)
      return {
        guard case .integer(let lhs) = try lhs($0), case .integer(let rhs) = try rhs($0) else {
          return .null
        }
        return .integer(try compute(lhs, rhs))
      }
    }
    let compute = operation.compute
    return {
      guard case .double(let lhs) = try lhs($0), case .double(let rhs) = try rhs($0) else {
        return .null
      }
      let result = compute(lhs, rhs)
      return .double(kind == .float ? Double(Float(result)) : result)
    }
  }
}

// MARK: Paths

extension ObjectExpressionCompiler {
  /// Makes a reader for the object at the end of a path.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - missing: The result if the path leads to no object.
  ///   - leaf: Reads the value; called with an object of the path's class.
  /// - Returns: The reader.
  private func along<Value>(
    _ path: RowPath,
    missing: @escaping (RowPath.Absence) throws -> Value,
    _ leaf: @escaping (any PersistentModel) throws -> Value
  ) -> ObjectReader<Value> {
    let level = path.level
    let wanted = path.descriptor
    if path.steps.isEmpty {
      if levels[level].isKind(of: wanted) { return { try leaf($0[level]) } }
      return {
        let model = $0[level]
        guard model.isKind(of: wanted) else { throw QueryFailure.otherClass }
        return try leaf(model)
      }
    }
    let steps = path.steps
    return { scope in
      var model = scope[level]
      for index in steps.indices {
        let property = steps[index].property
        guard model.descriptor.has(property) else { throw QueryFailure.otherClass }
        guard let next = model.stateWithRelationships.destination(property) else {
          return try missing(RowPath.absence(at: steps[index...]))
        }
        model = next
        scope.keep(next)
      }
      guard model.isKind(of: wanted) else { throw QueryFailure.otherClass }
      return try leaf(model)
    }
  }

  /// The reader of the object at the end of a path; `nil` if there is none.
  private func model(_ path: RowPath) -> ObjectReader<(any PersistentModel)?> {
    // Its class does not matter, just as for the name of a row.
    let end = path.steps.last?.property.destination.map(ModelDescriptor.of) ?? levels[path.level]
    return along(
      path.cast(to: end),
      missing: { absence in
        if absence == .failure { throw QueryFailure.unwrappedNil }
        return nil
      },
      { $0 }
    )
  }
}

// MARK: Lists

extension ObjectExpressionCompiler {
  /// The test whether some member of a list passes.
  private func existenceTest(
    _ list: QueryExpression.MemberList,
    _ condition: QueryExpression
  ) -> ObjectTest {
    let members = memberReader(list)
    if list.condition == nil, case .constant(.bool(true)) = condition {
      return { try !members($0).isEmpty }
    }
    let test = list.condition.map { QueryExpression.and($0, condition) } ?? condition
    let passing = memberTest(test, of: list)
    return { scope in
      try members(scope).contains { member in try scope.nesting(member) { try passing(scope) } }
    }
  }

  /// The reader of the number of members that pass the list's condition.
  private func countReader(_ list: QueryExpression.MemberList) -> ObjectReader<Int> {
    let members = memberReader(list)
    guard let condition = list.condition else { return { try members($0).count } }
    let passing = memberTest(condition, of: list)
    return { scope in
      try members(scope).reduce(0) { count, member in
        try scope.nesting(member) { try passing(scope) } ? count + 1 : count
      }
    }
  }

  /// The reader of all members of a list, in order.
  private func memberReader(
    _ list: QueryExpression.MemberList
  ) -> ObjectReader<[any PersistentModel]> {
    let property = list.property
    return along(
      list.owner,
      missing: { absence in
        if absence == .failure { throw QueryFailure.unwrappedNil }
        return []
      },
      { $0.stateWithRelationships.destinations(property) }
    )
  }

  private func memberTest(
    _ condition: QueryExpression,
    of list: QueryExpression.MemberList
  ) -> ObjectTest {
    var inner = self
    inner.levels.append(list.element)
    return inner.test(condition)
  }
}

extension PersistentModel {
  var descriptor: ModelDescriptor { _$state.descriptor(of: self) }

  /// Whether the object is of a class, or of a subclass of it.
  fileprivate func isKind(of other: ModelDescriptor) -> Bool { descriptor.isKind(of: other) }

  /// The state, which has the relationships, including those that an initializer has just set.
  var stateWithRelationships: _ModelState {
    let state = _$state
    state.adoptInitialRelationships(of: self)
    return state
  }
}

extension ModelDescriptor {
  /// Whether a property belongs to the class.
  func has(_ property: ModelProperty) -> Bool {
    property.ordinal < properties.count && properties[property.ordinal].keyPath == property.keyPath
  }
}
