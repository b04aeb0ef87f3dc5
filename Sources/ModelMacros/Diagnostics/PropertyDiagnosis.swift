import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// The diagnosis of one variable of a model class.
struct PropertyDiagnosis {
  let variable: VariableDeclSyntax

  var diagnostics: [Diagnostic] {
    switch Persistence(variable) {
    case .notStored: []
    case .transient: derivedTransient ?? transientDiagnostics
    case .refused(let refusal): [Diagnostic(refusal, at: variable, fixes: fixes(of: refusal))]
    case .persisted(let binding, let pattern):
      observerDiagnostics(binding, pattern) + derivedDiagnostics(binding, pattern)
    }
  }

  private func fixes(of refusal: ModelDiagnostic) -> [FixIt] {
    switch refusal {
    case .severalVariables: [splitting]
    case .function, .lazy: [markingTransient]
    case .unowned: [removingModifier("unowned"), markingTransient]
    case .wrapper(_, let name): [removingAttribute(name), markingTransient]
    default: []
    }
  }

  // MARK: Transient properties

  /// A fetched model has no other value to give a property that is not stored.
  private var transientDiagnostics: [Diagnostic] {
    variable.bindings.compactMap { binding in
      guard binding.initializer == nil, let type = binding.typeAnnotation?.type,
        !type.is(OptionalTypeSyntax.self), !type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self),
        !variable.isWrapped
      else { return nil }
      let placeholder = EditorPlaceholderExprSyntax(placeholder: .identifier("<#default value#>"))
      let value = InitializerClauseSyntax(
        equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
        value: placeholder
      )
      return Diagnostic(
        .transientWithoutDefault(property: binding.pattern.trimmedDescription),
        at: binding,
        fixes: [
          Remedy.replace(
            binding,
            with: binding.trimmed.with(\.initializer, value),
            "add a default value"
          )
        ]
      )
    }
  }

  // MARK: Derived properties

  private var derivedTransient: [Diagnostic]? {
    guard variable.attribute(named: "Derived") != nil,
      let name = variable.bindings.first?.pattern.trimmedDescription
    else { return nil }
    return [
      Diagnostic(
        .derivedTransient(property: name),
        at: variable,
        fixes: [removingAttribute("Transient")]
      )
    ]
  }

  private func derivedDiagnostics(
    _ binding: PatternBindingSyntax,
    _ pattern: IdentifierPatternSyntax
  ) -> [Diagnostic] {
    guard variable.attribute(named: "Derived") != nil else { return [] }
    let name = pattern.identifier.text
    var diagnostics: [Diagnostic] = []
    let keyword = variable.bindingSpecifier
    if keyword.tokenKind == .keyword(.let) {
      let fix = Remedy.replace(
        keyword,
        with: keyword.with(\.tokenKind, .keyword(.var)),
        "use 'var'"
      )
      diagnostics.append(Diagnostic(.derivedConstant(property: name), at: keyword, fixes: [fix]))
    }
    if binding.typeAnnotation == nil {
      diagnostics.append(Diagnostic(.derivedWithoutType(property: name), at: binding))
    } else if let initializer = binding.initializer {
      var bare = binding.with(\.initializer, nil)
      bare.typeAnnotation?.trailingTrivia = []
      let fix = Remedy.replace(binding, with: bare, "remove the initial value")
      diagnostics.append(
        Diagnostic(.derivedWithValue(property: name), at: initializer, fixes: [fix])
      )
    }
    if variable.attribute(named: "Relationship") != nil {
      diagnostics.append(
        Diagnostic(
          .derivedRelationship(property: name),
          at: variable,
          fixes: [removingAttribute("Relationship")]
        )
      )
    }
    return diagnostics
  }

  // MARK: Observers

  private func observerDiagnostics(
    _ binding: PatternBindingSyntax,
    _ pattern: IdentifierPatternSyntax
  ) -> [Diagnostic] {
    guard let observers = binding.accessorBlock else { return [] }
    let bare = binding.with(\.accessorBlock, nil).trimmed
    return [
      Diagnostic(
        .observers(property: pattern.identifier.text),
        at: observers,
        fixes: [Remedy.replace(binding, with: bare, "remove the observers")]
      )
    ]
  }

  // MARK: Changes to the declaration

  private var markingTransient: FixIt {
    var new = variable.trimmed
    new.attributes.insert(
      .attribute(AttributeSyntax("@Transient").with(\.trailingTrivia, .space)),
      at: new.attributes.startIndex
    )
    return Remedy.replace(variable, with: new.keepingTrivia(of: variable), "mark it '@Transient'")
  }

  private func removingModifier(_ modifier: String) -> FixIt {
    let new = variable.trimmed.with(
      \.modifiers,
      variable.trimmed.modifiers.filter { $0.name.text != modifier }
    )
    return Remedy.replace(
      variable,
      with: new.trimmed.keepingTrivia(of: variable),
      "remove '\(modifier)'"
    )
  }

  private func removingAttribute(_ name: String) -> FixIt {
    let new = variable.trimmed.with(
      \.attributes,
      variable.trimmed.attributes.filter {
        if case .attribute(let attribute) = $0 { attribute.baseName != name } else { true }
      }
    )
    return Remedy.replace(
      variable,
      with: new.trimmed.keepingTrivia(of: variable),
      "remove '@\(name)'"
    )
  }

  /// `var a, b: Int` as `var a: Int` and `var b: Int`.
  private var splitting: FixIt {
    var type: TypeAnnotationSyntax?
    var lines: [String] = []
    for binding in variable.bindings.reversed() {
      // A binding without a type and a value has the type of the next one.
      if binding.typeAnnotation != nil || binding.initializer != nil {
        type = binding.typeAnnotation
      }
      let alone = binding.with(\.trailingComma, nil).with(\.typeAnnotation, type?.trimmed)
      let list = PatternBindingListSyntax([alone.trimmed])
      lines.insert(variable.trimmed.with(\.bindings, list).description, at: 0)
    }
    let indentation =
      variable.leadingTrivia.description.split(
        separator: "\n",
        omittingEmptySubsequences: false
      ).last.map(String.init) ?? ""
    let new: DeclSyntax = "\(raw: lines.joined(separator: "\n" + indentation))"
    return Remedy.replace(
      variable,
      with: new.keepingTrivia(of: variable),
      "declare each property by itself"
    )
  }
}

extension PersistedProperty {
  /// A remedy for the compiler's complaint about a `let`: a warning in Swift 5, an error in Swift 6.
  var constantDiagnostic: Diagnostic? {
    guard isConstant, !isDerived else { return nil }
    let isPrivate = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.private) }
    let keyword = declaration.bindingSpecifier
    let text = isPrivate ? "var" : "private(set) var"
    return Diagnostic(
      .constant(property: identifier.text),
      at: keyword,
      fixes: [
        Remedy.replace(
          keyword,
          with: keyword.with(\.tokenKind, .identifier(text)),
          "use '\(text)'"
        )
      ]
    )
  }
}

extension VariableDeclSyntax {
  /// Whether an attribute besides the macros' may be a wrapper, which has an initial value of its own.
  fileprivate var isWrapped: Bool {
    attributes.contains {
      guard case .attribute(let attribute) = $0 else { return false }
      return attribute.baseName != "Transient" && attribute.baseName.first?.isUppercase == true
    }
  }
}

extension SyntaxProtocol {
  fileprivate func keepingTrivia(of other: some SyntaxProtocol) -> Self {
    // Not `with(\.leadingTrivia, …)`: its key path, formed in generic code, crashes with the
    // toolchain's SwiftSyntax.
    var copy = self
    copy.leadingTrivia = other.leadingTrivia
    copy.trailingTrivia = other.trailingTrivia
    return copy
  }
}
