public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor a context of its own, and an executor to use it on.
public enum PersistentModelActorMacro: MemberMacro, ExtensionMacro {
  public static var formatMode: FormatMode { .disabled }

  public static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self) else {
      DeclarationKind(declaration)?.refuse(
        by: "ModelActor",
        for: "actor",
        convertible: ["struct", "class"],
        in: context
      )
      return []
    }
    let access = Access(declaration, in: context).modifier
    return [
      "\(raw: access)nonisolated let modelExecutor: any ModelRuntime.ModelExecutor",
      "\(raw: access)nonisolated let modelContainer: ModelRuntime.ModelContainer",
      """
      \(raw: access)init(modelContainer: ModelRuntime.ModelContainer) {
        let modelContext = ModelRuntime.ModelContext(modelContainer)
        self.modelExecutor = ModelRuntime.DefaultSerialModelExecutor(modelContext: modelContext)
        self.modelContainer = modelContainer
      }
      """,
    ]
  }

  public static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): ModelRuntime.ModelActor {}")]
  }
}
