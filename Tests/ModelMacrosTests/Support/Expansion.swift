import ModelMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// A source file after the macros in it are expanded.
struct Expansion {
  /// The expanded source.
  let text: String
  /// What the macros had to say.
  let diagnostics: [Diagnostic]

  /// Expands a source file.
  ///
  /// - Parameters:
  ///   - source: The file.
  ///   - isSubclass: Whether the superclass of its models is a model, so that the compiler asks for
  ///     no conformance.
  init(_ source: String, isSubclass: Bool = false) {
    let file = Parser.parse(source: source)
    let shared = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App.swift")])
    let expanded = file.expand(
      macroSpecs: Self.macros(isSubclass: isSubclass),
      contextGenerator: {
        BasicMacroExpansionContext(
          sharingWith: shared,
          lexicalContext: $0.allMacroLexicalContexts()
        )
      },
      indentationWidth: .spaces(2)
    )
    text = expanded.description
    diagnostics = shared.diagnostics
  }

  private static func macros(isSubclass: Bool) -> [String: MacroSpec] {
    let conformances: [TypeSyntax] =
      isSubclass ? [] : ["ModelRuntime.PersistentModel", "Observable", "Sendable"]
    return [
      "Model": MacroSpec(type: PersistentModelMacro.self, conformances: conformances),
      "ModelActor": MacroSpec(
        type: PersistentModelActorMacro.self,
        conformances: ["ModelRuntime.ModelActor"]
      ),
      "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
      "_TransformablePersistedProperty": MacroSpec(type: TransformablePersistedPropertyMacro.self),
      "Attribute": MacroSpec(type: AttributePropertyMacro.self),
      "Relationship": MacroSpec(type: RelationshipPropertyMacro.self),
      "Transient": MacroSpec(type: TransientPropertyMacro.self),
      "Index": MacroSpec(type: IndexMacro.self),
      "Unique": MacroSpec(type: UniqueConstraintsMacro.self),
    ]
  }
}
