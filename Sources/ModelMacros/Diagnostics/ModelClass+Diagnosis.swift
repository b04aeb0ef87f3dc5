import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// The diagnostics for the class.
  var diagnostics: [Diagnostic] {
    let variables = declaration.memberBlock.members.declarations(of: VariableDeclSyntax.self)
    return variables.flatMap { PropertyDiagnosis(variable: $0).diagnostics }
      + [missingInitializer, statedSendable].compactMap { $0 }
  }

  /// Whether the class has a stored property that the macro refused, and so cannot initialize.
  var hasRefusedProperty: Bool {
    declaration.memberBlock.members.declarations(of: VariableDeclSyntax.self).contains {
      if case .refused = Persistence($0) { true } else { false }
    }
  }

  // MARK: Initializers

  /// A class gets no implicit initializer, because the macro gives it another one.
  private var missingInitializer: Diagnostic? {
    let stored = declaration.memberBlock.members.declarations(of: VariableDeclSyntax.self)
      .filter(\.isStoredInInstances)
    guard !stored.isEmpty, !hasInitializer else { return nil }
    return Diagnostic(
      .missingInitializer(className: name),
      at: declaration.name,
      fixes: [addingInitializer]
    )
  }

  var hasInitializer: Bool {
    !declaration.memberBlock.members.declarations(of: InitializerDeclSyntax.self).isEmpty
  }

  private var addingInitializer: FixIt {
    let needed = members.properties.map(\.property).filter {
      $0.initializer == nil && !$0.isImplicitlyNil && !$0.isDerived
    }
    let parameters = needed.map { "\($0.identifier.text): \($0.type ?? "<#type#>")" }
    let lines =
      needed.map { "self.\($0.identifier.text) = \($0.identifier.text)" }
      + (inheritsModel ? ["super.init(<#arguments#>)"] : [])
    let indentation =
      declaration.memberBlock.members.first?.leadingTrivia.description
      .split(separator: "\n", omittingEmptySubsequences: false).last.map(String.init) ?? "  "
    let outer = String(indentation.dropLast(2))
    let body = lines.map { "\(indentation)  \($0)\n" }.joined()
    let text =
      "\n\n\(indentation)init(\(parameters.joined(separator: ", "))) {\n\(body)\(indentation)}\n"
    let closing = declaration.memberBlock.rightBrace
    return Remedy.replace(
      closing,
      with: closing.with(\.leadingTrivia, .unexpectedText(text + outer)),
      "add an initializer"
    )
  }

  // MARK: Sendable

  private var statedSendable: Diagnostic? {
    guard let clause = declaration.inheritanceClause,
      let stated = clause.inheritedTypes.first(where: { $0.type.isSendable })
    else { return nil }
    var kept = clause.inheritedTypes.filter { !$0.type.isSendable }
    var rest = Syntax(TokenSyntax.unknown(" "))
    if let last = kept.indices.last {
      kept[last] = kept[last].with(\.trailingComma, nil).with(\.trailingTrivia, .space)
      rest = Syntax(clause.with(\.inheritedTypes, kept))
    }
    return Diagnostic(
      .statedSendable(className: name),
      at: stated,
      fixes: [Remedy.replace(clause, with: rest, "remove 'Sendable'")]
    )
  }
}

extension TypeSyntax {
  fileprivate var isSendable: Bool {
    if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.isSendable }
    return ["Sendable", "Swift.Sendable"].contains(trimmedDescription)
  }
}

extension MemberBlockItemListSyntax {
  /// The members of a kind, those inside `#if` too.
  func declarations<Declaration: DeclSyntaxProtocol>(
    of kind: Declaration.Type
  ) -> [Declaration] {
    flatMap { member -> [Declaration] in
      if let declaration = member.decl.as(kind) { return [declaration] }
      guard let block = member.decl.as(IfConfigDeclSyntax.self) else { return [] }
      return block.clauses.flatMap { clause -> [Declaration] in
        guard case .decls(let members) = clause.elements else { return [] }
        return members.declarations(of: kind)
      }
    }
  }
}
