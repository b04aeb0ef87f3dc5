import Foundation

/// A value read of each model: a property, or the result of an expression.
struct MeasuredValue<Model: PersistentModel> {
  /// The key path of the property; `nil` for an expression.
  let keyPath: PartialKeyPath<Model>?
  /// The name in error messages, of an expression.
  private let expressionName: String
  /// The name in error messages.
  var name: String { keyPath.map(ModelDescriptor.of(Model.self).words(for:)) ?? expressionName }
  /// Finds the source that reads the value from rows.
  let source: () throws(Untranslatable) -> AggregateRequest.Source
  /// Makes a closure that evaluates the value on objects, for values that rows cannot provide.
  private let makeEvaluator: () -> (Model) throws -> QueryValue

  init(_ keyPath: PartialKeyPath<Model>) {
    self.keyPath = keyPath
    expressionName = ""
    source = { () throws(Untranslatable) in
      try AggregateRequest.Source(keyPath, of: .of(Model.self))
    }
    makeEvaluator = { { QueryValue(of: $0[keyPath: keyPath]) } }
  }

  init<Output>(_ expression: Foundation.Expression<Model, Output>) {
    keyPath = nil
    expressionName = "an expression of type \(Output.self)"
    source = { () throws(Untranslatable) in
      guard let kind = queryKind(of: Output.self), kind != .identifier, kind != .bytes else {
        throw .value("\(Output.self)")
      }
      return AggregateRequest.Source(expression: try? QueryExpression(expression), kind: kind)
    }
    makeEvaluator = {
      let evaluate = expression.expression.makeEvaluator()
      let variable = expression.variable
      return { model in
        try SwiftDataError.explainingFailures {
          QueryValue(of: try evaluate(PredicateBindings((variable, model))))
        }
      }
    }
  }

  /// Returns a closure that reads the value from the objects of one fetch.
  ///
  /// It follows the rules for rows if the value has a form over rows, so that equal values form one group whether they came
  /// from a row or an object. A structure that is stored by its raw value is that value in both.
  ///
  /// - Parameter source: The source that reads the value from rows.
  /// - Returns: A closure that reads the value.
  func makeReader(_ source: AggregateRequest.Source) -> (Model) throws -> QueryValue {
    guard let expression = source.expression else { return makeEvaluator() }
    let value = ObjectExpressionCompiler(levels: [.of(Model.self)]).value(expression)
    let scope = ObjectScope()
    return { model in
      try SwiftDataError.explainingFailures { try scope.nesting(model) { try value(scope) } }
    }
  }
}

extension SwiftDataError {
  /// Evaluates an expression, and turns an operation without a result into a descriptive error.
  ///
  /// - Throws: ``expressionFailure``, or what `body` throws otherwise.
  static func explainingFailures<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as QueryFailure {
      throw expressionFailure.explained("an expression has no value for a model: \(failure.reason)")
    } catch let error as PredicateError where error.isFailedOperation {
      throw expressionFailure.explained(
        "an expression has no value for a model: \(error)",
        causedBy: error
      )
    }
  }
}

extension QueryFailure {
  fileprivate var reason: String {
    switch self {
    case .unwrappedNil: "it unwraps nil by force"
    case .overflow: "it divides by zero, or its type does not hold what it computes"
    case .otherClass: "it casts a model to another class"
    case .unreadable: "a stored value cannot be read"
    }
  }
}
