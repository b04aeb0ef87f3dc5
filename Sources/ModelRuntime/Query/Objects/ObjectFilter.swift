package import Foundation

/// A predicate compiled for the objects of a class.
///
/// An object matches exactly if its row would after a save: the same translated expression is evaluated, by the
/// same rules. A predicate that has no form over rows is evaluated node by node (see ``NodeFilter``). Neither traps:
/// where the user's code would divide by zero, overflow, unwrap nil or leave the bounds of a collection, the object
/// does not match.
///
/// Making a filter costs some microseconds, testing an object a fraction of one: make one for each fetch. A filter
/// belongs to one thread.
package struct ObjectFilter<T: PersistentModel> {
  private let test: (T) throws -> Bool

  /// Prepares a predicate.
  package init(_ predicate: Predicate<T>) {
    self.init(predicate, try? QueryExpression(predicate))
  }

  /// Prepares a predicate that is already translated, or known to have no form over rows.
  ///
  /// - Parameters:
  ///   - predicate: The predicate.
  ///   - expression: Its translation.
  ///   - keepsEnds: Whether the filter, which is about to test many objects, keeps those in memory that relationships lead to.
  package init(
    _ predicate: Predicate<T>,
    _ expression: QueryExpression?,
    keepingEnds keepsEnds: Bool = false
  ) {
    if let expression {
      test = ModelTest(expression, of: .of(T.self), keepingEnds: keepsEnds).matches
    } else {
      test = NodeFilter(predicate).matches
    }
  }

  /// Whether an object matches.
  ///
  /// - Throws: The error of a node that is not Foundation's.
  package func matches(_ model: T) throws -> Bool { try test(model) }
}

/// A translated predicate compiled for objects whose class is known by its descriptor alone.
struct ModelTest {
  private let scope: ObjectScope
  private let test: ObjectTest

  init(
    _ expression: QueryExpression,
    of type: ModelDescriptor,
    keepingEnds keepsEnds: Bool = false
  ) {
    scope = ObjectScope(keepingEnds: keepsEnds)
    test = ObjectExpressionCompiler(levels: [type]).test(expression)
  }

  /// Whether an object matches.
  ///
  /// - Throws: The error of a node that is not Foundation's.
  func matches(_ model: any PersistentModel) throws -> Bool {
    do {
      return try scope.nesting(model) { try test(scope) }
    } catch is QueryFailure {
      return false
    }
  }
}

/// A predicate prepared for evaluation node by node.
///
/// Its result is that of `Predicate.evaluate`, or false where that would trap, or has no
/// result.
struct NodeFilter<Input> {
  private let evaluate: (Input) throws -> Bool

  init(_ predicate: Predicate<Input>) {
    let evaluate = predicate.expression.makeEvaluator()
    let variable = predicate.variable
    self.evaluate = { try evaluate(PredicateBindings((variable, $0))) }
  }

  /// Whether the predicate holds.
  ///
  /// - Throws: The error of a node that is not Foundation's.
  func matches(_ input: Input) throws -> Bool {
    do {
      return try evaluate(input)
    } catch is QueryFailure {
      return false
    } catch let error as PredicateError where error.isFailedOperation {
      return false
    }
  }
}

extension PredicateError {
  /// Whether an operation had no result: the code of the predicate would have trapped.
  var isFailedOperation: Bool {
    self == .forceUnwrapFailure || self == .forceCastFailure || self == .invalidInput
  }
}
