#if canImport(SwiftCompilerPlugin)
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in, when the macros are built by SwiftPM.
///
/// Built against the toolchain's own SwiftSyntax (`Tools/swift`), the compiler loads the library
/// and finds the macro types by name: nothing needs to be listed.
@main
struct ModelMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    PersistentModelMacro.self,
    PersistentModelActorMacro.self,
    PersistedPropertyMacro.self,
    TransformablePersistedPropertyMacro.self,
    DerivedSlotMacro.self,
    AttributePropertyMacro.self,
    DerivedPropertyMacro.self,
    RelationshipPropertyMacro.self,
    TransientPropertyMacro.self,
    IndexMacro.self,
    UniqueConstraintsMacro.self,
    ModelPredicateMacro.self,
    ModelExpressionMacro.self,
  ]
}
#endif
