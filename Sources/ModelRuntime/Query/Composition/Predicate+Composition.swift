public import Foundation

// What `evaluate` says inside of `#Predicate`, for predicates that are put together outside of one: which parts there
// are is often known at run time only.

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
      lhs: _PredicateEvaluation(lhs, of: model),
      rhs: _PredicateEvaluation(rhs, of: model)
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
      lhs: _PredicateEvaluation(lhs, of: model),
      rhs: _PredicateEvaluation(rhs, of: model)
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
    PredicateExpressions.build_Negation(_PredicateEvaluation(predicate, of: model))
  }
}
