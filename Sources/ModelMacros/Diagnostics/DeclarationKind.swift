import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The kind of type a macro was attached to, when it is not the kind the macro is for.
struct DeclarationKind {
  let word: String
  let keyword: TokenSyntax
  let name: TokenSyntax

  init?(_ declaration: some DeclGroupSyntax) {
    if let type = declaration.as(StructDeclSyntax.self) {
      (word, keyword, name) = ("struct", type.structKeyword, type.name)
    } else if let type = declaration.as(EnumDeclSyntax.self) {
      (word, keyword, name) = ("enum", type.enumKeyword, type.name)
    } else if let type = declaration.as(ActorDeclSyntax.self) {
      (word, keyword, name) = ("actor", type.actorKeyword, type.name)
    } else if let type = declaration.as(ClassDeclSyntax.self) {
      (word, keyword, name) = ("class", type.classKeyword, type.name)
    } else if let type = declaration.as(ProtocolDeclSyntax.self) {
      (word, keyword, name) = ("protocol", type.protocolKeyword, type.name)
    } else {
      return nil
    }
  }

  /// Says that the macro is not for this kind of type.
  ///
  /// - Parameters:
  ///   - macro: The macro's name.
  ///   - right: The keyword of the kind it is for.
  ///   - convertible: The kinds that may be meant to be of the right one.
  ///   - context: Takes the diagnostic.
  func refuse(
    by macro: String,
    for right: String,
    convertible: Set<String>,
    in context: some MacroExpansionContext
  ) {
    var fixes: [FixIt] = []
    if convertible.contains(word) {
      let new = keyword.with(\.tokenKind, .identifier(right))
      fixes.append(Remedy.replace(keyword, with: new, "make it a '\(right)'"))
    }
    context.diagnose(
      Diagnostic(
        .notApplicable(macro: macro, kind: word, name: name.text),
        at: keyword,
        fixes: fixes
      )
    )
  }
}
