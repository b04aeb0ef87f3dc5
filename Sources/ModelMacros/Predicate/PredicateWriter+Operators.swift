import SwiftSyntax

extension PredicateWriter {
  mutating func prefixTerm(_ prefix: PrefixOperatorExprSyntax) throws -> PredicateTerm {
    let name: String
    switch prefix.operator.text {
    case "!": name = "build_Negation"
    case "-": name = "build_UnaryMinus"
    case let other: throw refusal(.operator(other), at: prefix.operator)
    }
    let operand = try term(prefix.expression)
    if case .constant(let text) = operand, name == "build_Negation" { return .constant("!\(text)") }
    return .node("\(Self.nodes).\(name)(\(operand.node))")
  }

  mutating func infixTerm(_ infix: InfixOperatorExprSyntax) throws -> PredicateTerm {
    let name = infix.operator.trimmedDescription
    let (nodes, builder) = (Self.nodes, Self.builder)
    switch name {
    case "==", "!=", "===", "!==":
      return try equality(name.hasPrefix("=") ? "equal" : "notEqual", infix)
    default: break
    }
    let lhs = try side(infix.leftOperand, of: name)
    let rhs = try side(infix.rightOperand, of: name)
    let (left, right) = (lhs.node, rhs.node)
    return switch name {
    case "<": .node("\(nodes).build_Comparison(lhs: \(left), rhs: \(right), op: .lessThan)")
    case "<=": .node("\(nodes).build_Comparison(lhs: \(left), rhs: \(right), op: .lessThanOrEqual)")
    case ">": .node("\(nodes).build_Comparison(lhs: \(left), rhs: \(right), op: .greaterThan)")
    case ">=":
      .node("\(nodes).build_Comparison(lhs: \(left), rhs: \(right), op: .greaterThanOrEqual)")
    case "&&": .node("\(nodes).build_Conjunction(lhs: \(left), rhs: \(right))")
    case "||": .node("\(nodes).build_Disjunction(lhs: \(left), rhs: \(right))")
    case "??": .node("\(nodes).build_NilCoalesce(lhs: \(left), rhs: \(right))")
    case "+": .node("\(builder).sum(\(left), \(right))")
    case "-": .node("\(builder).difference(\(left), \(right))")
    case "*": .node("\(nodes).build_Arithmetic(lhs: \(left), rhs: \(right), op: .multiply)")
    case "/": .node("\(nodes).build_Division(lhs: \(left), rhs: \(right))")
    case "%": .node("\(nodes).build_Remainder(lhs: \(left), rhs: \(right))")
    case "...": .node("\(nodes).build_ClosedRange(lower: \(left), upper: \(right))")
    case "..<": .node("\(nodes).build_Range(lower: \(left), upper: \(right))")
    default: throw refusal(.operator(name), at: infix.operator)
    }
  }

  /// A side of an operator; by a name if the compiler would take long to find its type together with the other's.
  private mutating func side(_ expression: ExprSyntax, of name: String) throws -> PredicateTerm {
    let term = try term(expression)
    switch name {
    case "&&", "||": return expression.isJunction ? term : namedCondition(term)
    case "==", "<", "<=", ">", ">=":
      // The functions of an optional chain have several forms, which multiply along the chain.
      guard case .node(let node) = term, node.contains(".flatMap(") else { return term }
      return named(term, "side")
    default: return term
    }
  }

  /// Whether two sides are equal.
  ///
  /// A constant is always on the right: there it has its type from the node, which it may need, as `.active` does.
  private mutating func equality(
    _ function: String,
    _ infix: InfixOperatorExprSyntax
  ) throws -> PredicateTerm {
    let lhs = try side(infix.leftOperand, of: "==")
    let rhs = try side(infix.rightOperand, of: "==")
    if let constant = failingConstant(infix.rightOperand), case .node(let node) = lhs {
      return .node("\(Self.builder).\(function)(\(node), failing: \(constant))")
    }
    if let constant = failingConstant(infix.leftOperand), case .node(let node) = rhs {
      return .node("\(Self.builder).\(function)(\(node), failing: \(constant))")
    }
    switch (lhs, rhs) {
    case (.node(let node), .constant(let text)), (.constant(let text), .node(let node)):
      return .node("\(Self.builder).\(function)(\(node), constant: \(text))")
    case (.node(let node), .literal(let text)), (.literal(let text), .node(let node)):
      return .node("\(Self.builder).\(function)(\(node), literal: \(text))")
    case (.node(let node), .null), (.null, .node(let node)):
      let name = function == "equal" ? "build_Equal" : "build_NotEqual"
      return .node("\(Self.nodes).\(name)(lhs: \(node), rhs: \(PredicateTerm.null.node))")
    case (.node(let lhs), .node(let rhs)):
      return .node("\(Self.builder).\(function)(\(lhs), \(rhs))")
    default:
      let operation = infix.operator.trimmedDescription
      return .constant("\(lhs.constant ?? "") \(operation) \(rhs.constant ?? "")")
    }
  }
}

extension ExprSyntax {
  /// Whether this is a conjunction or a disjunction, in brackets or not, whose sides have names.
  fileprivate var isJunction: Bool {
    if let tuple = self.as(TupleExprSyntax.self), let element = tuple.elements.first,
      tuple.elements.count == 1
    {
      return element.expression.isJunction
    }
    return ["&&", "||"].contains(self.as(InfixOperatorExprSyntax.self)?.operator.trimmedDescription)
  }
}
