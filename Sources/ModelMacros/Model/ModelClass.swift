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

  /// Whether a global actor isolates the class.
  var isIsolated: Bool { declaration.isIsolated }

  /// Whether a global actor may isolate the class: then the members that the runtime calls must be `nonisolated`.
  var mayBeIsolated: Bool { declaration.mayBeIsolated }

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
  var isIsolated: Bool { attributeNames.contains { $0.hasSuffix("Actor") } }

  /// Whether the class may be an actor's: its superclass or a protocol may be, and an attribute may be an actor of another name.
  var mayBeIsolated: Bool {
    isIsolated || inheritanceClause != nil
      || attributeNames.contains { !Self.attributesWithoutActor.contains($0) }
  }

  private var attributeNames: [String] {
    attributes.compactMap { element in
      guard case .attribute(let attribute) = element else { return nil }
      return attribute.attributeName.trimmedDescription
    }
  }

  private static let attributesWithoutActor: Set = [
    "Model", "SwiftData.Model", "ModelRuntime.Model", "available", "objc", "objcMembers",
    "dynamicMemberLookup", "usableFromInline",
  ]
}
