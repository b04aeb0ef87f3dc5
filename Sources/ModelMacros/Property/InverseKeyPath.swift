import SwiftSyntax

extension LabeledExprListSyntax {
  /// The arguments of `@Relationship` with the inverse as the plain key path of a property.
  ///
  /// `inverse: \Item.owner?` compiles, but is another key path than that of `owner`, by which the schema finds it.
  var withPlainInverse: LabeledExprListSyntax {
    LabeledExprListSyntax(
      map { argument in
        guard argument.label?.text == "inverse",
          let keyPath = argument.expression.as(KeyPathExprSyntax.self)
        else { return argument }
        let end = keyPath.components.reversed().prefix {
          $0.component.is(KeyPathOptionalComponentSyntax.self)
        }
        let components = keyPath.components.dropLast(end.count)
        return argument.with(
          \.expression,
          ExprSyntax(keyPath.with(\.components, KeyPathComponentListSyntax(Array(components))))
        )
      }
    )
  }
}
