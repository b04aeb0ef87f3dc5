import SwiftSyntax
import SwiftSyntaxMacros

/// A class marked `@Model`, as its syntax shows it.
struct ModelClass {
  let declaration: ClassDeclSyntax
  let members: MemberTree<PersistedProperty>
  /// Whether the compiler already found a conformance to `PersistentModel`: in the superclass.
  let inheritsModel: Bool
  /// The access of the class, if it is not the default; the generated members have to match it.
  let access: Access?

  /// Reads a class.
  ///
  /// - Parameters:
  ///   - declaration: The class.
  ///   - missing: The conformances that the compiler asks the macro for.
  ///   - context: Knows the types and extensions the class is nested in.
  init(
    _ declaration: ClassDeclSyntax,
    missing: [TypeSyntax],
    in context: some MacroExpansionContext
  ) {
    self.declaration = declaration
    members = MemberTree(declaration.memberBlock.members)
    // One that states the conformance itself does not miss it either.
    let stated = declaration.inheritanceClause?.inheritedTypes.map(\.type) ?? []
    inheritsModel = !(missing + stated).contains(where: \.namesPersistentModel)
    access = Access(declaration, in: context)
  }

  /// The class as its own body names it.
  var name: String { declaration.name.trimmedDescription }

  var isFinal: Bool { declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) } }

  var inheritedTypes: [TypeSyntax] {
    declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmed) ?? []
  }

  /// Whether a global actor isolates the class: then the members that the runtime calls must be `nonisolated`.
  var isIsolated: Bool { declaration.isIsolated }

  /// The superclass, if that is a model too: only then does its place in the clause mean so.
  var superclass: String? { inheritsModel ? inheritedTypes.first?.description : nil }
}

extension TypeSyntax {
  /// Whether the type is `PersistentModel`, however it is written: a class or protocol of another name may end like it.
  fileprivate var namesPersistentModel: Bool {
    if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.namesPersistentModel }
    if let type = self.as(CompositionTypeSyntax.self) {
      return type.elements.contains { $0.type.namesPersistentModel }
    }
    if let type = self.as(MemberTypeSyntax.self) { return type.name.text == "PersistentModel" }
    return self.as(IdentifierTypeSyntax.self)?.name.text == "PersistentModel"
  }
}

extension ClassDeclSyntax {
  /// Whether the class is marked with a global actor, which syntax can only tell by its name.
  var isIsolated: Bool { !isolation.isEmpty }

  /// The name of the global actor, or "".
  var isolation: String {
    for case .attribute(let attribute) in attributes {
      let name = attribute.attributeName.trimmedDescription
      if name.hasSuffix("Actor") { return name }
    }
    return ""
  }
}
