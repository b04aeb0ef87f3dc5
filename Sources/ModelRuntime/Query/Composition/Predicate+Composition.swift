public import Foundation

// `#Predicate` on Linux takes no other predicate inside, and a predicate that is made of several has to be: which
// parts there are is often known at run time only.

/// Both predicates hold.
///
///     let wanted = isLate && fromOslo
///
/// The parts are answered as one predicate, by indexes and columns where they can be. It cannot be encoded.
public func && <Model: PersistentModel>(
  lhs: Predicate<Model>,
  rhs: Predicate<Model>
) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Conjunction(
      lhs: _PredicatePart(lhs, of: model),
      rhs: _PredicatePart(rhs, of: model)
    )
  }
}

/// One of two predicates holds, or both do.
///
///     let wanted = isLate || isCancelled
///
/// The parts are answered as one predicate, by indexes and columns where they can be. It cannot be encoded.
public func || <Model: PersistentModel>(
  lhs: Predicate<Model>,
  rhs: Predicate<Model>
) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Disjunction(
      lhs: _PredicatePart(lhs, of: model),
      rhs: _PredicatePart(rhs, of: model)
    )
  }
}

/// A predicate does not hold.
///
///     let others = !isLate
///
/// As in Swift, a predicate that fails, because it unwraps nil by force for instance, does not match negated either. It
/// cannot be encoded.
public prefix func ! <Model: PersistentModel>(predicate: Predicate<Model>) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Negation(_PredicatePart(predicate, of: model))
  }
}

/// A predicate as a part of another: its variable stands for the other's.
public struct _PredicatePart<Model: PersistentModel>: StandardPredicateExpression {
  public typealias Output = Bool

  private let predicate: Predicate<Model>
  private let model: PredicateExpressions.Variable<Model>

  init(_ predicate: Predicate<Model>, of model: PredicateExpressions.Variable<Model>) {
    self.predicate = predicate
    self.model = model
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try predicate.evaluate(model.evaluate(bindings))
  }

  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription:
          "a predicate that is composed of others cannot be encoded: encode its parts"
      )
    )
  }

  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath,
        debugDescription:
          "a predicate that is composed of others cannot be decoded: decode its parts"
      )
    )
  }
}

extension _PredicatePart: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard let root = predicate.expression as? any QueryTranslatable else {
      throw .node("\(Swift.type(of: predicate.expression))")
    }
    var inner = translation
    inner.bind(predicate.variable.key, to: try translation.value(of: model.key))
    return try root.translate(inner)
  }
}

extension _PredicatePart: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let evaluate = predicate.expression.makeEvaluator()
    let (variable, model) = (predicate.variable, model)
    return { bindings in
      try evaluate(PredicateBindings((variable, try model.evaluate(bindings))))
    }
  }
}
