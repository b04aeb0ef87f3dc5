package import Foundation

/// A predicate made ready for the objects of a class.
///
/// An object matches exactly if its row would, once it was saved: the same translated expression is evaluated, by the
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

  /// Prepares a predicate that has been translated already, or found to have no form over rows.
  package init(_ predicate: Predicate<T>, _ expression: QueryExpression?) {
    if let expression {
      test = ModelTest(expression, of: .of(T.self)).matches
    } else {
      test = NodeFilter(predicate).matches
    }
  }

  /// Whether an object matches.
  ///
  /// - Throws: What a node that is not Foundation's throws.
  package func matches(_ model: T) throws -> Bool { try test(model) }
}

/// A translated predicate made ready for objects, where their class is known by its descriptor alone.
struct ModelTest {
  private let scope = ObjectScope()
  private let test: ObjectTest

  init(_ expression: QueryExpression, of type: ModelDescriptor) {
    test = ObjectExpressionCompiler(levels: [type]).test(expression)
  }

  /// Whether an object matches.
  ///
  /// - Throws: What a node that is not Foundation's throws.
  func matches(_ model: any PersistentModel) throws -> Bool {
    do {
      return try scope.nesting(model) { try test(scope) }
    } catch is QueryFailure {
      return false
    }
  }
}

/// A predicate made ready to be evaluated node by node.
///
/// It says what `Predicate.evaluate` says, and where that would trap, or has no result, that the predicate does not
/// hold.
struct NodeFilter<Input> {
  private let evaluate: (Input) throws -> Bool

  init(_ predicate: Predicate<Input>) {
    let evaluate = predicate.expression.makeEvaluator()
    let variable = predicate.variable
    self.evaluate = { try evaluate(PredicateBindings((variable, $0))) }
  }

  /// Whether the predicate holds.
  ///
  /// - Throws: What a node that is not Foundation's throws.
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
