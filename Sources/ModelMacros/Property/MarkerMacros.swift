public import SwiftSyntax
public import SwiftSyntaxMacros

// Macros that expand to nothing: they are there to be read by `@Model`, which sees the whole class.

/// A macro that marks a property and adds nothing to it.
public protocol MarkerMacro: PeerMacro {}

extension MarkerMacro {
  public static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }

  public static var formatMode: FormatMode { .disabled }
}

/// `@Attribute(…)`: the options of a persisted value.
public enum AttributePropertyMacro: MarkerMacro {}

/// `@Derived(…)`: what the store computes a value from.
public enum DerivedPropertyMacro: MarkerMacro {}

/// `@Relationship(…)`: the options of a relationship.
public enum RelationshipPropertyMacro: MarkerMacro {}

/// `@Transient`: keeps a property out of the schema.
public enum TransientPropertyMacro: MarkerMacro {}

/// A declaration inside a model class that states something of the class and declares nothing.
public protocol ConstraintMacro: DeclarationMacro {}

extension ConstraintMacro {
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }

  public static var formatMode: FormatMode { .disabled }
}

/// `#Index<T>(…)`: the properties a store keeps in order.
public enum IndexMacro: ConstraintMacro {}

/// `#Unique<T>(…)`: the properties no two models may share.
public enum UniqueConstraintsMacro: ConstraintMacro {}
