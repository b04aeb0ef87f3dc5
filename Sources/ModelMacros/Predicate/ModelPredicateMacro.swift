internal import SwiftDiagnostics
public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `#Predicate` of models: writes the tree of a predicate in place of its closure.
///
/// The tree has Foundation's nodes wherever Foundation has them, so everything that takes a predicate takes these, too.
/// Parts that do not depend on the tested models are evaluated once, when the predicate is made; a model among them
/// is compared by its identifier.
public enum ModelPredicateMacro: ExpressionMacro {
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) throws -> ExprSyntax { try tree("Predicate", in: node) }

  public static var formatMode: FormatMode { .disabled }
}

/// `#Expression` of models: the same for values other than a Boolean.
public enum ModelExpressionMacro: ExpressionMacro {
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) throws -> ExprSyntax { try tree("Expression", in: node) }

  public static var formatMode: FormatMode { .disabled }
}

/// Makes a type of Foundation's with the tree of a closure.
private func tree(
  _ type: String,
  in node: some FreestandingMacroExpansionSyntax
) throws -> ExprSyntax {
  let argument = node.arguments.first?.expression.as(ClosureExprSyntax.self)
  guard let closure = node.trailingClosure ?? argument else {
    throw DiagnosticsError(diagnostics: [Diagnostic(PredicateDiagnostic.noClosure, at: node)])
  }
  var writer = PredicateWriter()
  let tree = try writer.closure(closure, parameters: .typed)
  let generics = node.genericArgumentClause?.trimmedDescription ?? ""
  return "Foundation.\(raw: type)\(raw: generics)(\(raw: tree))"
}
