import SwiftSyntax

extension PredicateWriter {
  /// Whether a part of the closure is evaluated once, as it is, when the predicate is made.
  ///
  /// It mentions no variable, and contains nothing that would trap where a node has no answer: a division that another
  /// part of the predicate guards is not evaluated before its guard.
  func isConstant(_ expression: ExprSyntax) -> Bool {
    isHarmless(expression) && !mentionsVariable(expression)
  }

  /// Whether a part of the closure depends on the tested models.
  func mentionsVariable(_ node: some SyntaxProtocol) -> Bool {
    let search = VariableSearch(names: Set(variables.keys))
    search.walk(node)
    return search.found
  }

  /// Whether evaluating an expression early is as good as evaluating it where it is.
  private func isHarmless(_ expression: ExprSyntax) -> Bool {
    // The beginning of a chain that was cut has another name.
    if links[expression.id] != nil { return false }
    return switch expression.as(ExprSyntaxEnum.self) {
    case .memberAccessExpr(let access): access.base.map(isHarmless) ?? true
    case .functionCallExpr(let call):
      call.calledExpression.as(MemberAccessExprSyntax.self)?.base.map(isHarmless) ?? true
    case .optionalChainingExpr(let chain): isHarmless(chain.expression)
    case .tupleExpr(let tuple): tuple.elements.allSatisfy { isHarmless($0.expression) }
    case .prefixOperatorExpr(let prefix):
      prefix.operator.text != "-" && isHarmless(prefix.expression)
    case .infixOperatorExpr(let infix): isHarmless(infix)
    case .ternaryExpr(let ternary):
      [ternary.condition, ternary.thenExpression, ternary.elseExpression].allSatisfy(isHarmless)
    case .isExpr(let check): isHarmless(check.expression)
    case .asExpr(let cast):
      cast.questionOrExclamationMark?.tokenKind != .exclamationMark && isHarmless(cast.expression)
    case .forceUnwrapExpr, .subscriptCallExpr, .ifExpr, .switchExpr: false
    default: true
    }
  }

  private func isHarmless(_ infix: InfixOperatorExprSyntax) -> Bool {
    let operands = [infix.leftOperand, infix.rightOperand]
    switch infix.operator.trimmedDescription {
    case "+" where operands.contains(where: \.isText): return true
    case "+", "-", "*", "/", "%", "...", "..<", "&+", "&-", "&*", "<<", ">>": return false
    default: return operands.allSatisfy(isHarmless)
    }
  }
}

extension ExprSyntax {
  /// Whether the expression is a text as it is written, or several put together.
  fileprivate var isText: Bool {
    if let infix = self.as(InfixOperatorExprSyntax.self) {
      return infix.leftOperand.isText || infix.rightOperand.isText
    }
    return self.is(StringLiteralExprSyntax.self)
  }
}

/// Looks for names of variables, but not for those that an inner closure gives to something else.
private final class VariableSearch: SyntaxVisitor {
  private let names: Set<String>
  private(set) var found = false

  init(names: Set<String>) {
    self.names = names
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    // A name after a dot is a member's.
    let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
    if !isMember, names.contains(node.baseName.text) { found = true }
    return .skipChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    let own = node.parameterNames
    let hidden = own.isEmpty ? names.filter { !$0.hasPrefix("$") } : names.subtracting(own)
    let search = VariableSearch(names: hidden)
    search.walk(node.statements)
    if let signature = node.signature?.capture { search.walk(signature) }
    found = found || search.found
    return .skipChildren
  }
}
