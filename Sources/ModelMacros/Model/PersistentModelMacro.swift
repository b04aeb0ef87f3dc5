public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@Model`: makes a class one whose objects can be stored.
///
/// As a member macro it adds the members of `PersistentModel`, as a member attribute macro it marks
/// the properties to persist, and as an extension macro it states the conformances.
public enum PersistentModelMacro {
  public static var formatMode: FormatMode { .disabled }
}

extension PersistentModelMacro: MemberMacro {
  public static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    guard let declaration = declaration.as(ClassDeclSyntax.self) else { return [] }
    let model = ModelClass(declaration, missing: protocols, in: context)
    for diagnostic in model.diagnostics { context.diagnose(diagnostic) }
    return model.generatedMembers
  }
}

extension PersistentModelMacro: MemberAttributeMacro {
  public static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AttributeSyntax] {
    guard let declaration = declaration.as(ClassDeclSyntax.self),
      let property = member.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init)
    else { return [] }
    let members = MemberTree(declaration.memberBlock.members)
    guard let place = members.properties.first(where: { $0.property.name == property.name })?.place
    else { return [] }
    let name =
      property.isDerived
      ? "_DerivedProperty"
      : property.isTransformable ? "_TransformablePersistedProperty" : "_PersistedProperty"
    let label = members.isConditional ? "place: " : ""
    return ["@ModelRuntime.\(raw: name)(\(raw: label)\(raw: place))"]
  }
}

extension PersistentModelMacro: ExtensionMacro {
  public static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self) else {
      // Said here because this is the one role that the compiler expands for every kind of type.
      DeclarationKind(declaration)?.refuse(
        by: "Model",
        for: "final class",
        convertible: ["struct", "actor"],
        in: context
      )
      return []
    }
    return try protocols.compactMap { conformance in
      switch conformance.trimmedDescription.split(separator: ".").last {
      case "PersistentModel":
        // `Observable` comes with it, but the compiler (6.3) crashes on a subclass unless it is stated too.
        try ExtensionDeclSyntax(
          "extension \(type.trimmed): nonisolated ModelRuntime.PersistentModel {}"
        )
      case "Observable":
        try ExtensionDeclSyntax(
          "extension \(type.trimmed): nonisolated ModelRuntime._Observable {}"
        )
      case "Sendable":
        try ExtensionDeclSyntax(
          """
          @available(*, unavailable, message: "PersistentModels are not Sendable, consider utilizing a ModelActor or use \(type.trimmed)'s persistentModelID instead")
          extension \(type.trimmed): Swift.Sendable {}
          """
        )
      default: nil
      }
    }
  }
}
