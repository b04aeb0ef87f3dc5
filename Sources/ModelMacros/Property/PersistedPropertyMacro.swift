public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// A macro that turns a property into accessors over a slot, and declares the slot beside it.
public protocol SlotMacro: AccessorMacro, PeerMacro {}

/// `@_PersistedProperty`, which `@Model` puts on every property it persists.
public enum PersistedPropertyMacro: SlotMacro {}

/// `@_TransformablePersistedProperty`, for values that pass through a `ValueTransformer`.
public enum TransformablePersistedPropertyMacro: SlotMacro {}

/// `@_DerivedProperty`, for values that the store computes: they can be read, and not be set.
public enum DerivedSlotMacro: SlotMacro {}

extension SlotMacro {
  public static var formatMode: FormatMode { .disabled }

  public static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    guard let accessors = PropertyAccessors(node, declaration, in: context) else { return [] }
    if let note = accessors.property.constantDiagnostic { context.diagnose(note) }
    return accessors.accessors
  }

  public static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self)
    return declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init).map {
      [$0.slotDeclaration(mayBeIsolated: owner?.mayBeIsolated ?? false)]
    } ?? []
  }
}

extension PersistedProperty {
  /// The storage of the property.
  ///
  /// A type that is not written is inferred from the initializer, which the slot does not evaluate:
  /// the property's own initial value does, through the `init` accessor.
  func slotDeclaration(mayBeIsolated: Bool) -> DeclSyntax {
    let value: String
    if let type {
      let empty = isDerived ? " = .init()" : isImplicitlyNil ? " = .init(nil)" : ""
      value = ": ModelRuntime._Slot<\(type)>" + empty
    } else if let initializer {
      value = " = ModelRuntime._Slot(of: \(initializer))"
    } else {
      value = ""
    }
    // The runtime reads and writes slots whatever actor the class belongs to.
    let isolation = mayBeIsolated ? "nonisolated(unsafe) " : ""
    return "@safe @exclusivity(unchecked) \(raw: isolation)private var \(raw: slot)\(raw: value)"
  }
}
