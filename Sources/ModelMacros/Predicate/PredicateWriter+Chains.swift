import SwiftSyntax

// `a?.b.c` is nil if `a` is nil: the rest of the chain is a closure of the unwrapped `a`. A constant may be unwrapped in the
// middle of an expression that depends on a variable, as in `filter!.evaluate($0)`; it is looked at when the predicate is
// made, and fails, if it does, when the predicate gets there.

extension PredicateWriter {
  /// The term of an expression that is the end of a chain; `nil` if it is not.
  mutating func chainTerm(_ expression: ExprSyntax) throws -> PredicateTerm? {
    guard let cut = cut(of: expression) else { return nil }
    let name = uniqueName("value")
    switch cut {
    case .optional(let chain):
      switch try term(chain.expression) {
      case .node(let root):
        let rest = try linked(chain, to: .node(name)) { try $0.term(expression) }
        return .node("\(Self.builder).flatMap(\(root)) { \(name) in \(rest.node) }")
      case let root:
        let rest = try linked(chain, to: .constant(name)) { try $0.term(expression) }
        return .node(
          "\(Self.builder).ifPresent(\(root.constant ?? "nil")) { \(name) in \(rest.node) }"
        )
      }
    case .failing(let part, let failing):
      let rest = try linked(part, to: .constant(name)) { try $0.term(expression) }
      if let constant = rest.constant {
        return .node("\(Self.builder).required(\(failing).map { \(name) in \(constant) })")
      }
      return .node(
        "\(Self.nodes).build_ForcedUnwrap("
          + "\(Self.builder).ifPresent(\(failing).optional) { \(name) in \(rest.node) })"
      )
    }
  }

  /// A constant that may have no value: a forced unwrapping, or an element of a collection.
  ///
  /// It must have one only when the predicate gets there, and not when it is made.
  func failingConstant(_ expression: ExprSyntax) -> String? {
    if let unwrap = expression.as(ForceUnwrapExprSyntax.self), isConstant(unwrap.expression) {
      return "\(Self.builder).unwrapping(\(unwrap.expression.trimmedDescription))"
    }
    if let call = expression.as(SubscriptCallExprSyntax.self), isConstant(call.calledExpression),
      let key = call.arguments.first, call.arguments.count == 1, key.label == nil,
      isConstant(key.expression)
    {
      let collection = call.calledExpression.trimmedDescription
      return "\(Self.builder).element(of: \(collection), at: \(key.expression.trimmedDescription))"
    }
    return nil
  }

  /// The place at which a chain is cut in two.
  private enum Cut {
    case optional(OptionalChainingExprSyntax)
    /// The part, and its source in the tree.
    case failing(ExprSyntax, String)
  }

  private func cut(of expression: ExprSyntax) -> Cut? {
    var rest = expression.chainBase
    while let part = rest, links[part.id] == nil {
      if let chain = part.as(OptionalChainingExprSyntax.self) { return .optional(chain) }
      if let failing = failingConstant(part) { return .failing(part, failing) }
      rest = part.as(ForceUnwrapExprSyntax.self)?.expression ?? part.chainBase
    }
    return nil
  }
}

extension ExprSyntax {
  /// The base of a member access, a call or a subscript.
  fileprivate var chainBase: ExprSyntax? {
    if let access = self.as(MemberAccessExprSyntax.self) { return access.base }
    if let call = self.as(FunctionCallExprSyntax.self) {
      return call.calledExpression.as(MemberAccessExprSyntax.self)?.base
    }
    return self.as(SubscriptCallExprSyntax.self)?.calledExpression
  }
}
