package import Foundation

/// The walk over a predicate's tree: the values of its variables, and the depth of closures.
struct QueryTranslation {
  /// The value of a variable.
  ///
  /// Variables are substituted: the argument of an optional's closure by the expression it came from, the
  /// element of a list by a row of the next level.
  ///
  /// A predicate has one variable, and one more for each closure around the current node.
  private var bindings:
    [(variable: PredicateExpressions.VariableID, value: QueryExpression, level: Int)] = []
  /// The level of the innermost row; 0 is the row that is tested.
  private(set) var level = 0

  init() {}

  mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: QueryExpression) {
    bindings.append((variable, expression, level))
  }

  /// Begins the translation of another predicate's tree, which has a variable of its own and knows no other.
  ///
  /// So a chain of predicates, each of which evaluates the one before it, binds one variable at a time.
  func ofOther(
    _ variable: PredicateExpressions.VariableID,
    boundTo expression: QueryExpression
  ) -> QueryTranslation {
    var other = QueryTranslation()
    other.level = level
    other.bind(variable, to: expression)
    return other
  }

  func value(
    of variable: PredicateExpressions.VariableID
  ) throws(Untranslatable) -> QueryExpression {
    guard let binding = bindings.last(where: { $0.variable == variable }) else {
      throw .node("a variable of another predicate")
    }
    // Levels inside a closure count from its own level.
    if binding.level != level, binding.value.hasClosure {
      throw .combination("a filtered list in the closure of another")
    }
    return binding.value
  }

  /// Translates the closure of a list: its variable is a row of the next level.
  func element<Body: QueryTranslatable>(
    _ variable: PredicateExpressions.VariableID,
    of list: QueryExpression.MemberList,
    in body: Body
  ) throws(Untranslatable) -> QueryExpression {
    var inner = self
    inner.level += 1
    inner.bind(variable, to: .row(RowPath(level: inner.level, descriptor: list.element)))
    return try body.translate(inner)
  }
}

/// A node of a predicate's tree that has a form over rows.
///
/// The conformances are conditional on the children's, so that one cast at the root tells whether the
/// whole tree can be translated, and children are called without any: a cast costs a microsecond warm,
/// and for a new type a hundred.
protocol QueryTranslatable: PredicateExpression, SendableMetatype {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression

  /// Translates a test that the predicate requires: whether it is false or fails makes no difference.
  func translateRequired(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression
}

extension QueryTranslatable {
  func translateRequired(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression { try translate(translation) }
}

extension QueryExpression {
  /// Translates a predicate on models of one class.
  ///
  /// - Throws: ``Untranslatable`` if the predicate must be evaluated on objects.
  package init<T: PersistentModel>(
    _ predicate: Predicate<T>
  ) throws(Untranslatable) {
    try self.init(predicate.expression, predicate.variable.key, of: .of(T.self))
  }

  /// Translates a predicate on models of one class, given its variable.
  ///
  /// - Throws: ``Untranslatable`` if the predicate must be evaluated on objects.
  init(
    _ expression: any StandardPredicateExpression<Bool>,
    _ variable: PredicateExpressions.VariableID,
    of type: ModelDescriptor
  ) throws(Untranslatable) {
    guard let node = TranslatableTypes.type(of: expression) else {
      throw .node("\(Swift.type(of: expression))")
    }
    var translation = QueryTranslation()
    translation.bind(variable, to: .row(RowPath(level: 0, descriptor: type)))
    self = try Self.translate(expression, as: node, translation)
  }

  private static func translate<Node: QueryTranslatable>(
    _ expression: some StandardPredicateExpression<Bool>,
    as _: Node.Type,
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    // It has exactly this type, by which the node was found.
    try unsafe withUnsafePointer(to: expression) { pointer throws(Untranslatable) in
      try unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Node.self).pointee
        .translateRequired(translation)
    }
  }

  /// Translates an expression about models of one class.
  ///
  /// - Throws: ``Untranslatable`` if the expression must be evaluated on objects.
  init<T: PersistentModel, Output>(
    _ expression: Foundation.Expression<T, Output>
  ) throws(Untranslatable) {
    guard let root = expression.expression as? any QueryTranslatable else {
      throw .node("\(Swift.type(of: expression.expression))")
    }
    var translation = QueryTranslation()
    translation.bind(
      expression.variable.key,
      to: .row(RowPath(level: 0, descriptor: .of(T.self)))
    )
    self = try root.translate(translation)
  }
}
