import SwiftSyntax

/// A stored property of a model class that belongs in its rows, as its syntax shows it.
struct PersistedProperty {
  let declaration: VariableDeclSyntax
  let binding: PatternBindingSyntax
  /// The name as the source writes it, in backticks if it needs them.
  let identifier: TokenSyntax

  /// Reads a member of a class, or returns `nil` if it is not a property to persist.
  init?(_ declaration: VariableDeclSyntax) {
    guard case .persisted(let binding, let pattern) = Persistence(declaration) else { return nil }
    self.declaration = declaration
    self.binding = binding
    identifier = pattern.identifier.trimmed
  }

  /// The name without backticks.
  var name: String { identifier.identifier?.name ?? identifier.text }

  /// The stored property that holds the value.
  var slot: String { "_$s_\(name)" }

  /// The attribute that says what the store computes the value from, if it does.
  var derivation: AttributeSyntax? { declaration.attribute(named: "Derived") }

  var isDerived: Bool { derivation != nil }

  var isConstant: Bool { declaration.bindingSpecifier.tokenKind == .keyword(.let) }

  var initializer: ExprSyntax? { binding.initializer?.value.trimmed }

  /// The type as written, or read off the initializer where that takes no type checker.
  ///
  /// An implicitly unwrapped optional is an optional here: only the property itself unwraps.
  var type: String? {
    if let type = binding.typeAnnotation?.type {
      guard let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else {
        return type.trimmedDescription
      }
      return "\(unwrapped.wrappedType.trimmedDescription)?"
    }
    return initializer.flatMap(Self.literalType)
  }

  /// Whether the property is nil until it is set, without saying so.
  var isImplicitlyNil: Bool {
    guard initializer == nil, !isConstant, !isDerived, let type = binding.typeAnnotation?.type
    else {
      return false
    }
    return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
  }

  private static func literalType(_ expression: ExprSyntax) -> String? {
    switch expression.kind {
    case .booleanLiteralExpr: "Swift.Bool"
    case .integerLiteralExpr: "Swift.Int"
    case .floatLiteralExpr: "Swift.Double"
    case .stringLiteralExpr: "Swift.String"
    default: nil
    }
  }
}

extension PersistedProperty {
  /// The attribute that carries the property's options, if it has one.
  var options: Options? {
    if let attribute = declaration.attribute(named: "Relationship") {
      return Options(type: "Relationship", attribute: attribute)
    }
    if let attribute = declaration.attribute(named: "Attribute") {
      return Options(type: "Attribute", attribute: attribute, derivation: derivation)
    }
    return derivation.map { Options(type: "Attribute", derivation: $0) }
  }

  /// Whether the value goes through a `ValueTransformer` on its way to the row.
  var isTransformable: Bool {
    attributeArguments.contains { argument in
      guard let call = argument.expression.as(FunctionCallExprSyntax.self),
        let member = call.calledExpression.as(MemberAccessExprSyntax.self)
      else { return false }
      return ["transformable", "transform"].contains(member.declName.baseName.text)
    }
  }

  /// The value of an `.ephemeral` property after a fetch, and in every row: an expression, or `nil` if it is stored.
  ///
  /// It begins with its initial value, or with nil. A property that has neither is stored, since it has to begin with
  /// something; so is a relationship, as its type tells the runtime.
  var ephemeralValue: String? {
    let isEphemeral = attributeArguments.contains {
      $0.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "ephemeral"
    }
    return isEphemeral ? isImplicitlyNil ? "nil" : initializer?.description : nil
  }

  private var attributeArguments: LabeledExprListSyntax {
    guard case .argumentList(let arguments) = declaration.attribute(named: "Attribute")?.arguments
    else { return [] }
    return arguments
  }

  /// `@Attribute(…)` or `@Relationship(…)`, and `@Derived(…)`.
  struct Options {
    /// The class of `Schema` that takes the same arguments.
    let type: String
    var attribute: AttributeSyntax?
    var derivation: AttributeSyntax?

    /// The expression that makes the schema's description of the options, in today's spellings.
    var expression: String {
      var arguments = ""
      if case .argumentList(let list) = attribute?.arguments {
        arguments = list.inTodaysSpelling.withPlainInverse.trimmedDescription
      }
      let options = "ModelRuntime.Schema.\(type)(\(arguments))"
      guard case .argumentList(let derivation) = derivation?.arguments else { return options }
      return "\(options).derived(\(derivation.trimmedDescription))"
    }
  }
}
