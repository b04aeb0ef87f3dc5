public import Foundation

// The equivalent of `evaluate` inside of `#Predicate`, for predicates that are composed outside of one: often the parts
// are known at run time only.

/// Returns a predicate that holds if both predicates hold.
///
///     let wanted = isLate && fromOslo
///
/// The parts are answered as one predicate, by indexes and columns if possible. It cannot be encoded.
public func && <Model: PersistentModel>(
  lhs: Predicate<Model>,
  rhs: Predicate<Model>
) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Conjunction(
      lhs: _PredicateEvaluation(lhs, of: model),
      rhs: _PredicateEvaluation(rhs, of: model)
    )
  }
}

/// Returns a predicate that holds if at least one of two predicates holds.
///
///     let wanted = isLate || isCancelled
///
/// The parts are answered as one predicate, by indexes and columns if possible. It cannot be encoded.
public func || <Model: PersistentModel>(
  lhs: Predicate<Model>,
  rhs: Predicate<Model>
) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Disjunction(
      lhs: _PredicateEvaluation(lhs, of: model),
      rhs: _PredicateEvaluation(rhs, of: model)
    )
  }
}

/// Returns a predicate that holds if a predicate does not.
///
///     let others = !isLate
///
/// As in Swift, a predicate that fails, for instance by force-unwrapping nil, does not match negated either. It
/// cannot be encoded.
public prefix func ! <Model: PersistentModel>(predicate: Predicate<Model>) -> Predicate<Model> {
  Predicate { model in
    PredicateExpressions.build_Negation(_PredicateEvaluation(predicate, of: model))
  }
}
