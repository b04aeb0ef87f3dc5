import SwiftSyntax
import SwiftSyntaxMacros

/// The access of a declaration that is visible beyond its module.
///
/// Lower levels need not be told apart: members of a private class are as private as the class.
enum Access: String {
  case open, `public`, package

  /// The access of a type or an actor, written on it or on the extension it is in.
  init?(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) {
    if let written = Access(declaration.modifiers) {
      self = written
    } else if declaration.modifiers.contains(where: { $0.isAccess }) {
      return nil
    } else if let outer = context.lexicalContext.first?.as(ExtensionDeclSyntax.self),
      let inherited = Access(outer.modifiers)
    {
      self = inherited
    } else {
      return nil
    }
  }

  private init?(_ modifiers: DeclModifierListSyntax) {
    for modifier in modifiers where modifier.detail == nil {
      guard let access = Access(rawValue: modifier.name.text) else { continue }
      self = access
      return
    }
    return nil
  }
}

extension Access? {
  /// The modifier of a generated member, with the space after it.
  var modifier: String {
    switch self {
    case .open, .public: "public "
    case .package: "package "
    case nil: ""
    }
  }

  /// The modifier of a generated member that subclasses override, with the space after it.
  var overridableModifier: String { self == .open ? "open " : modifier }
}

extension DeclModifierSyntax {
  fileprivate var isAccess: Bool {
    ["internal", "fileprivate", "private"].contains(name.text) && detail == nil
  }
}
