import SwiftSyntax

// Names from the framework's first releases to developers. The attributes themselves are declared deprecated, where they are
// written; in the code generated from them nobody could correct them.

extension LabeledExprListSyntax {
  /// The arguments of `@Attribute` or `@Relationship` as they are spelled today.
  var inTodaysSpelling: LabeledExprListSyntax {
    LabeledExprListSyntax(map(\.inTodaysSpelling))
  }
}

extension LabeledExprSyntax {
  private static let deleteRules: Set = ["noAction", "nullify", "cascade", "deny"]
  private static let names = [
    "encrypt": "allowsCloudEncryption", "transform": "codable", "transformable": "codable",
  ]

  fileprivate var inTodaysSpelling: LabeledExprSyntax {
    guard label == nil else { return self }
    var copy = self
    if let member = expression.as(MemberAccessExprSyntax.self) {
      let name = member.declName.baseName.text
      if Self.deleteRules.contains(name) {
        copy.label = .identifier("deleteRule")
        copy.colon = .colonToken(trailingTrivia: .space)
      } else if let today = Self.names[name] {
        copy.expression = ExprSyntax(member.renamed(today))
      }
    } else if var call = expression.as(FunctionCallExprSyntax.self),
      let member = call.calledExpression.as(MemberAccessExprSyntax.self),
      member.declName.baseName.text == "transform"
    {
      call.calledExpression = ExprSyntax(member.renamed("transformable"))
      copy.expression = ExprSyntax(call)
    }
    return copy
  }
}

extension MemberAccessExprSyntax {
  fileprivate func renamed(_ name: String) -> MemberAccessExprSyntax {
    with(\.declName, DeclReferenceExprSyntax(baseName: .identifier(name)))
  }
}
