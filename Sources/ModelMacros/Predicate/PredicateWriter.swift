import SwiftDiagnostics
import SwiftSyntax

/// Writes the tree of a predicate, as source, from the closure that the user wrote.
///
/// A part of the closure that mentions none of its variables is a constant: it is kept as it is, and evaluated when the
/// predicate is made. All else becomes a node.
struct PredicateWriter {
  /// The treatment of the types that a closure states for its parameters.
  enum ParameterTypes {
    /// They are stated for the variables in the tree.
    case typed
    /// They are left to the compiler.
    case inferred
  }

  /// The namespace of Foundation's nodes.
  static let nodes = "Foundation.PredicateExpressions"
  /// The namespace of the functions that make what Foundation has no single node for.
  static let builder = "ModelRuntime._PredicateBuilder"

  /// The variables in scope: their names in the source, and in the tree.
  private(set) var variables: [String: String] = [:]
  /// The terms at the places where a chain was cut, at the `?` or the `!`.
  private(set) var links: [SyntaxIdentifier: PredicateTerm] = [:]

  /// The declarations of the parts of the innermost closure that got names, in order.
  private var declarations: [String] = []
  private var nameCount = 0

  /// A name that no source has: such names are the macros' own.
  ///
  /// The names that the compiler makes up for macros begin with `$`, which parameters of closures cannot.
  mutating func uniqueName(_ name: String) -> String {
    nameCount += 1
    return "_$\(name)\(nameCount)"
  }

  /// Returns the term of a part of the closure.
  mutating func term(_ expression: ExprSyntax) throws -> PredicateTerm {
    if let link = links[expression.id] { return link }
    if let literal = expression.literalTerm { return literal }
    if isConstant(expression) { return .constant(expression.trimmedDescription) }
    if let term = try chainTerm(expression) { return term }
    switch expression.as(ExprSyntaxEnum.self) {
    case .declReferenceExpr(let reference):
      return .node(variables[reference.baseName.text] ?? reference.trimmedDescription)
    case .tupleExpr(let tuple):
      guard let element = tuple.elements.first, tuple.elements.count == 1 else {
        throw refusal(.tuple, at: tuple)
      }
      return try term(element.expression)
    case .memberAccessExpr(let access): return try memberTerm(access)
    case .forceUnwrapExpr(let unwrap):
      if let constant = failingConstant(expression) {
        return .node("\(Self.builder).required(\(constant))")
      }
      return .node("\(Self.nodes).build_ForcedUnwrap(\(try term(unwrap.expression).node))")
    case .functionCallExpr(let call): return try callTerm(call)
    case .subscriptCallExpr(let call): return try subscriptTerm(call)
    case .infixOperatorExpr(let infix): return try infixTerm(infix)
    case .prefixOperatorExpr(let prefix): return try prefixTerm(prefix)
    case .ternaryExpr(let ternary):
      return .conditional(
        try term(ternary.condition),
        try term(ternary.thenExpression),
        try term(ternary.elseExpression)
      )
    case .isExpr(let check):
      let input = try term(check.expression).node
      return .node("\(Self.nodes).TypeCheck<_, \(check.type.trimmedDescription)>(\(input))")
    case .asExpr(let cast): return try castTerm(cast)
    case .ifExpr(let condition): return try ifTerm(condition, rest: nil)
    case .tryExpr(let attempt): return try term(attempt.expression)
    case .switchExpr(let choice): throw refusal(.switchStatement, at: choice)
    default: throw refusal(.expression(expression.trimmedDescription), at: expression)
    }
  }

  private mutating func memberTerm(_ access: MemberAccessExprSyntax) throws -> PredicateTerm {
    guard let base = access.base else { return .constant(access.trimmedDescription) }
    let name = access.declName.trimmedDescription
    switch try term(base) {
    case .constant(let text): return .constant("\(text).\(name)")
    case let root: return .node("\(Self.builder).keyPath(\(root.node), \\.\(name))")
    }
  }

  private mutating func castTerm(_ cast: AsExprSyntax) throws -> PredicateTerm {
    let input = try term(cast.expression).node
    let type = cast.type.trimmedDescription
    switch cast.questionOrExclamationMark?.tokenKind {
    case .postfixQuestionMark: return .node("\(Self.nodes).ConditionalCast<_, \(type)>(\(input))")
    default: return .node("\(Self.nodes).ForceCast<_, \(type)>(\(input))")
    }
  }

  /// The error that refuses a part of the closure.
  func refusal(
    _ diagnostic: PredicateDiagnostic,
    at node: some SyntaxProtocol,
    fixes: [FixIt] = []
  ) -> DiagnosticsError {
    DiagnosticsError(diagnostics: [Diagnostic(diagnostic, at: node, fixes: fixes)])
  }

  // MARK: Scopes

  /// Writes the body of a closure with more variables in scope, and fewer: a constant of a variable's name hides it.
  mutating func scoped(
    variables added: [String: String] = [:],
    constants: [String] = [],
    _ write: (inout Self) throws -> PredicateTerm
  ) rethrows -> PredicateTerm {
    let outer = variables
    defer { variables = outer }
    variables.merge(added) { _, new in new }
    for name in constants { variables[name] = nil }
    return try block(write)
  }

  /// Writes the part after a `?` or a `!`, whose value is known to exist, as the body of a closure.
  mutating func linked(
    _ node: some SyntaxProtocol,
    to term: PredicateTerm,
    _ write: (inout Self) throws -> PredicateTerm
  ) rethrows -> PredicateTerm {
    links[node.id] = term
    defer { links[node.id] = nil }
    return try block(write)
  }

  /// Writes the body of a closure: first the parts that got names, then the result.
  ///
  /// The compiler finds the types of one statement after the other. In one expression, the overloads of each part would
  /// multiply with those of the others.
  private mutating func block(
    _ write: (inout Self) throws -> PredicateTerm
  ) rethrows -> PredicateTerm {
    let outer = declarations
    declarations = []
    defer { declarations = outer }
    let body = try write(&self)
    if declarations.isEmpty { return body }
    return .node(declarations.joined(separator: "; ") + "; return " + body.node)
  }

  /// Gives a part of the innermost closure a name, unless it is one.
  mutating func named(_ term: PredicateTerm, _ name: String) -> PredicateTerm {
    guard case .node(let node) = term, !node.hasPrefix("_$") else { return term }
    let name = uniqueName(name)
    declarations.append("let \(name) = \(node)")
    return .node(name)
  }

  /// The same for a part that is true or false.
  mutating func namedCondition(_ term: PredicateTerm) -> PredicateTerm {
    guard case .node(let node) = term, !node.hasPrefix("_$") else { return term }
    return named(.node("\(Self.builder).condition(\(node))"), "condition")
  }
}
