import SwiftDiagnostics
import SwiftSyntax

/// A change that would make the compiler accept a declaration, and what it is called.
struct Remedy: FixItMessage {
  let message: String

  var fixItID: MessageID { MessageID(domain: "ModelMacros", id: message) }

  /// Creates a fix-it that replaces a piece of the source.
  static func replace(
    _ old: some SyntaxProtocol,
    with new: some SyntaxProtocol,
    _ message: String
  ) -> FixIt {
    FixIt(
      message: Remedy(message: message),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))]
    )
  }
}

extension Diagnostic {
  init(_ diagnostic: ModelDiagnostic, at node: some SyntaxProtocol, fixes: [FixIt] = []) {
    self.init(node: Syntax(node), message: diagnostic, fixIts: fixes)
  }
}
