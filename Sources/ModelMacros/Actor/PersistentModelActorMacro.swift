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
    var members: [DeclSyntax] = [
      "\(raw: access)nonisolated let modelExecutor: any ModelRuntime.ModelExecutor",
      "\(raw: access)nonisolated let modelContainer: ModelRuntime.ModelContainer",
    ]
    if !declaration.memberBlock.members.replaceInitializer {
      members.append(
        """
        \(raw: access)init(modelContainer: ModelRuntime.ModelContainer) {
          let modelContext = ModelRuntime.ModelContext(modelContainer)
          self.modelExecutor = ModelRuntime.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """
      )
    }
    return members
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

extension MemberBlockItemListSyntax {
  /// Whether the actor's own initializers replace the macro's: one is the same, or only they can give
  /// a stored property its value.
  fileprivate var replaceInitializer: Bool {
    let isSame = declarations(of: InitializerDeclSyntax.self).contains { initializer in
      let parameters = initializer.signature.parameterClause.parameters
      return parameters.count == 1 && parameters.first?.firstName.text == "modelContainer"
    }
    return isSame
      || declarations(of: VariableDeclSyntax.self).filter(\.isStoredInInstances).contains {
        variable in
        variable.bindings.contains { $0.initializer == nil && !$0.isOptional(in: variable) }
      }
  }
}

extension PatternBindingSyntax {
  /// Whether the variable is nil without being told.
  fileprivate func isOptional(in variable: VariableDeclSyntax) -> Bool {
    guard variable.bindingSpecifier.tokenKind == .keyword(.var), let type = typeAnnotation?.type
    else {
      return false
    }
    return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
  }
}
