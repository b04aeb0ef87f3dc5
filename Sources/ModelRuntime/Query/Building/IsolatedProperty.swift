public import Foundation

/// The isolation of a model class's properties: none.
public enum _NotIsolated {}

/// The isolation of a model class's properties: the actor that the class names.
public enum _ActorIsolated {}

/// A property of an actor's models, in a predicate that was made on that actor.
///
/// Stored properties are read from rows, or from the object, on its context's thread. The code of a
/// computed property runs on its actor only: elsewhere the program stops, instead of racing.
public struct _IsolatedProperty<Root: PredicateExpression, Output>: PredicateExpression
where Root.Output: PersistentModel {
  private let property: PredicateExpressions.KeyPath<Root, Output>
  /// The actor on which the predicate was made; `nil` if it may be evaluated anywhere.
  private let isolation: (any Actor)?

  fileprivate init(_ root: Root, _ keyPath: KeyPath<Root.Output, Output>, _ isolation: (any Actor)?)
  {
    // A key path of properties holds only their getters, and the calls of these are checked here.
    property = .init(root: root, keyPath: keyPath.assumingSendable)
    self.isolation = isolation
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> Output {
    try makeObjectEvaluator()(bindings)
  }
}

extension _IsolatedProperty: Sendable where Root: Sendable {}
extension _IsolatedProperty: _UncodableNode, StandardPredicateExpression, Codable
where Root: StandardPredicateExpression {}

extension _IsolatedProperty: QueryTranslatable where Root: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try property.translate(translation)
  }
}

extension _IsolatedProperty: VariableProperty where Root: PlainVariable {
  var variable: PredicateExpressions.VariableID { property.variable }
  var anyKeyPath: AnyKeyPath { property.keyPath }
}

extension _IsolatedProperty: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let evaluate = property.makeObjectEvaluator()
    guard let isolation, !isStored else { return evaluate }
    let message = "\(property.keyPath) is computed, and its code belongs to an actor"
    return {
      isolation.preconditionIsolated(message)
      return try evaluate($0)
    }
  }

  private var isStored: Bool {
    ModelDescriptor.of(Root.Output.self).ownOrInheritedProperty(for: property.keyPath) != nil
      || isIdentifier(property.keyPath, of: Root.Output.self)
  }
}

extension _PredicateBuilder {
  /// A property of a model that belongs to an actor.
  public static func keyPath<Root: PredicateExpression, Value>(
    _ root: Root,
    _ keyPath: KeyPath<Root.Output, Value>,
    isolation: (any Actor)? = #isolation
  ) -> _IsolatedProperty<Root, Value>
  where Root.Output: PersistentModel, Root.Output._$Isolation == _ActorIsolated {
    .init(root, keyPath, isolation)
  }
}

extension KeyPath {
  /// The key path, cast to be sendable.
  fileprivate var assumingSendable: any KeyPath<Root, Value> & Sendable {
    // A marker protocol allows such a cast only between generic parameters.
    func cast<From, To>(_ value: From, to _: To.Type) -> To? { value as? To }
    guard let sendable = cast(self, to: (any KeyPath<Root, Value> & Sendable).self) else {
      preconditionFailure("\(self) is a key path, and every key path has this type")
    }
    return sendable
  }
}
