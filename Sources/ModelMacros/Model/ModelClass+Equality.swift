import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// A witness for `Equatable`, where the class has its own `==` without saying so.
  ///
  /// The compiler finds such an operator twice, in the class and through the extension that this
  /// macro adds, calls it ambiguous and rejects the conformance. A witness under another name that
  /// calls it is found once.
  var equality: DeclSyntax? {
    guard hasEqualityOperator, !inheritsModel, !declaresEquatable else { return nil }
    return """
      @_implements(Swift.Equatable, ==(_:_:))
      \(raw: access.modifier)static func _$equals(_ lhs: \(raw: name), _ rhs: \(raw: name)) -> Swift.Bool { lhs == rhs }
      """
  }

  private var hasEqualityOperator: Bool {
    declaration.memberBlock.members.contains {
      $0.decl.as(FunctionDeclSyntax.self)?.name.tokenKind == .binaryOperator("==")
    }
  }

  private var declaresEquatable: Bool {
    inheritedTypes.contains { type in
      ["Equatable", "Hashable", "Comparable"].contains { type.trimmedDescription.hasSuffix($0) }
    }
  }
}
