import ModelMacros
import SwiftDiagnostics
import SwiftOperators
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// A source file after the macros in it are expanded.
struct Expansion {
  /// Whether the compiler finds the conformances of the models in the file, or asks for them.
  enum Superclass { case none, model }

  private let source: String
  /// The expanded source, a line at a time and without indentation: the macros leave that to nobody.
  let lines: [Substring]
  /// What the macros had to say.
  let diagnostics: [Diagnostic]

  /// Expands a source file.
  init(_ source: String, superclass: Superclass = .none) {
    self.source = source
    // Operators have their operands, as the compiler gives them to macros.
    let parsed = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
    let file = parsed.cast(SourceFileSyntax.self)
    let shared = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App.swift")]
    )
    let expanded = file.expand(
      macroSpecs: Self.macros(superclass),
      contextGenerator: {
        BasicMacroExpansionContext(
          sharingWith: shared,
          lexicalContext: $0.allMacroLexicalContexts()
        )
      }
    )
    lines = Self.lines(expanded.description)
    diagnostics = shared.diagnostics
  }

  /// Whether the lines of `text` follow each other in the expansion.
  func contains(_ text: String) -> Bool { lines.contains(Self.lines(text)) }

  /// The number of lines that contain `text`.
  func count(of text: String) -> Int { lines.count { $0.contains(text) } }

  var messages: [String] { diagnostics.map(\.message) }
  /// How grave each message is.
  var severities: [DiagnosticSeverity] { diagnostics.map(\.diagMessage.severity) }

  /// The source after the changes of a fix-it of the first diagnostic.
  func fixed(by index: Int = 0) -> String? {
    guard let fixes = diagnostics.first?.fixIts, fixes.indices.contains(index) else { return nil }
    return fixes[index].changes.reduce(source) { source, change in
      guard case .replace(let old, let new) = change else { return source }
      return source.replacing(old.description, with: new.description, maxReplacements: 1)
    }
  }

  private static func lines(_ text: String) -> [Substring] {
    text.split(separator: "\n").map { line in
      line.drop { $0 == " " }
    }.filter { !$0.isEmpty }
  }

  private static func macros(_ superclass: Superclass) -> [String: MacroSpec] {
    let conformances: [TypeSyntax] =
      switch superclass {
      case .none: ["ModelRuntime.PersistentModel", "Observable", "Sendable"]
      case .model: []
      }
    return [
      "Model": MacroSpec(type: PersistentModelMacro.self, conformances: conformances),
      "ModelActor": MacroSpec(
        type: PersistentModelActorMacro.self,
        conformances: ["ModelRuntime.ModelActor"]
      ),
      "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
      "_TransformablePersistedProperty": MacroSpec(type: TransformablePersistedPropertyMacro.self),
      "_DerivedProperty": MacroSpec(type: DerivedSlotMacro.self),
      "Derived": MacroSpec(type: DerivedPropertyMacro.self),
      "Attribute": MacroSpec(type: AttributePropertyMacro.self),
      "Relationship": MacroSpec(type: RelationshipPropertyMacro.self),
      "Transient": MacroSpec(type: TransientPropertyMacro.self),
      "Index": MacroSpec(type: IndexMacro.self),
      "Unique": MacroSpec(type: UniqueConstraintsMacro.self),
      "Predicate": MacroSpec(type: ModelPredicateMacro.self),
      "Expression": MacroSpec(type: ModelExpressionMacro.self),
    ]
  }
}
