import SwiftSyntax

/// The treatment of a variable declared in a model class.
enum Persistence {
  /// It is computed, or belongs to the class itself, and needs no treatment.
  case notStored
  /// It is stored, and kept out of the store.
  case transient
  /// It is stored and cannot be persisted.
  case refused(ModelDiagnostic)
  /// It is a column of the model's rows.
  case persisted(PatternBindingSyntax, IdentifierPatternSyntax)

  init(_ variable: VariableDeclSyntax) {
    guard variable.isStoredInInstances else { self = .notStored; return }
    guard variable.attribute(named: "Transient") == nil else { self = .transient; return }
    guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
      self = .refused(.severalVariables)
      return
    }
    guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
      self = .refused(.destructured)
      return
    }
    let name = pattern.identifier.identifier?.name ?? pattern.identifier.text
    if let refusal = Self.refusal(of: variable, binding, name) {
      self = .refused(refusal)
    } else {
      self = .persisted(binding, pattern)
    }
  }

  private static func refusal(
    of variable: VariableDeclSyntax,
    _ binding: PatternBindingSyntax,
    _ name: String
  ) -> ModelDiagnostic? {
    for modifier in variable.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.lazy): return .lazy(property: name)
      case .keyword(.unowned): return .unowned(property: name)
      default: continue
      }
    }
    for case .attribute(let attribute) in variable.attributes
    where knownWrappers.contains(attribute.baseName) {
      return .wrapper(property: name, name: attribute.baseName)
    }
    guard let type = binding.typeAnnotation?.type.unwrapped else { return nil }
    if type.is(FunctionTypeSyntax.self) { return .function(property: name) }
    if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count != 1 {
      return .tuple(property: name)
    }
    return nil
  }

  /// The wrappers that model classes meet most; syntax does not tell one from a macro, and of any
  /// other the compiler says that it cannot be applied to a computed property.
  private static let knownWrappers: Set = [
    "Published", "State", "Binding", "StateObject", "ObservedObject", "EnvironmentObject",
    "Environment", "AppStorage", "SceneStorage", "Query",
  ]
}

extension TypeSyntax {
  /// The type without parentheses, attributes and optionals around it.
  fileprivate var unwrapped: TypeSyntax {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.unwrapped }
    if let implicit = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return implicit.wrappedType.unwrapped
    }
    if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.unwrapped }
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let only = tuple.elements.first
    {
      return only.type.unwrapped
    }
    return self
  }
}
