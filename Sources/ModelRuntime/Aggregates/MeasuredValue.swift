import Foundation

/// What is read of each model: a property, or what an expression makes of it.
struct MeasuredValue<Model: PersistentModel> {
  /// The property's; `nil` for an expression.
  let keyPath: PartialKeyPath<Model>?
  /// What messages call it.
  let name: String
  /// Finds what a row has to be asked.
  let source: () throws(Untranslatable) -> AggregateRequest.Source
  /// Makes what reads the value off objects that have to be asked for it.
  private let makeEvaluator: () -> (Model) throws -> QueryValue

  init(_ keyPath: PartialKeyPath<Model>) {
    self.keyPath = keyPath
    name = "\(keyPath)"
    source = { () throws(Untranslatable) in
      try AggregateRequest.Source(keyPath, of: .of(Model.self))
    }
    makeEvaluator = { { QueryValue(of: $0[keyPath: keyPath]) } }
  }

  init<Output>(_ expression: Foundation.Expression<Model, Output>) {
    keyPath = nil
    name = "an expression of type \(Output.self)"
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

  /// Makes what reads the value off objects of one fetch.
  ///
  /// By the same rules as on rows, where the value has a form over rows: so equal values are one group, whether a row or an
  /// object was asked for them. A structure that is stored by its raw value is that value in both.
  ///
  /// - Parameter source: What a row has to be asked.
  /// - Returns: What reads the value.
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
  /// Does what evaluates an expression; an operation without a result becomes an error that says so.
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
