import SwiftSyntax

/// The source of a part of a predicate's closure in the tree.
enum PredicateTerm {
  /// A node.
  case node(String)
  /// A value that is evaluated when the predicate is made.
  case constant(String)
  /// A constant as it is written: a number, a text, a truth value.
  case literal(String)
  /// `nil`.
  case null

  /// The term as a node.
  var node: String {
    switch self {
    case .node(let text): text
    case .constant(let text), .literal(let text): "\(PredicateWriter.nodes).Value(\(text))"
    case .null: "\(PredicateWriter.nodes).build_NilLiteral()"
    }
  }

  /// The term as a value, if it is one.
  var constant: String? {
    switch self {
    case .node: nil
    case .constant(let text), .literal(let text): text
    case .null: "nil"
    }
  }

  static func conditional(_ test: Self, _ then: Self, _ otherwise: Self) -> Self {
    .node(
      "\(PredicateWriter.nodes).build_Conditional("
        + "\(test.node), \(then.node), \(otherwise.node))"
    )
  }
}

extension ExprSyntax {
  /// The expression as a literal, if it is one.
  var literalTerm: PredicateTerm? {
    switch self.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: .literal(trimmedDescription)
    case .nilLiteralExpr: PredicateTerm.null
    case .stringLiteralExpr(let text):
      text.segments.allSatisfy { $0.is(StringSegmentSyntax.self) }
        ? .literal(trimmedDescription) : nil
    case .prefixOperatorExpr(let prefix):
      prefix.operator.text == "-" && prefix.expression.isNumber
        ? .literal(trimmedDescription) : nil
    default: nil
    }
  }

  fileprivate var isNumber: Bool {
    self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self)
  }
}
