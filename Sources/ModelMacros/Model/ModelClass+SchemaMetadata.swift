import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// The description of the class's own properties that a schema is made from.
  var schemaMetadata: [DeclSyntax] {
    let statements =
      members.statements { property, _ in propertyMetadata(property) }
      + constraints("Index") + constraints("Unique")
    let lines =
      statements.isEmpty
      ? ["[]"]
      : [
        // Initial values are written below it, and name what the app calls `properties`.
        "var _$properties: [ModelRuntime.Schema.PropertyMetadata] = []",
        "_$properties.reserveCapacity(\(statements.count))",
      ] + statements + ["return _$properties"]
    let modifier =
      (inheritsModel ? "override " : "") + access.overridableModifier
      + (isFinal && !inheritsModel ? "static" : "class")
    guard mayBeIsolated else {
      return [
        """
        \(raw: modifier) var schemaMetadata: [ModelRuntime.Schema.PropertyMetadata] {
          \(raw: lines.joined(separator: "\n"))
        }
        """
      ]
    }
    // Key paths of isolated properties, and what initial values are made from, are the actor's, of which a macro may not know
    // the name. Nothing of it is used here but to describe the properties.
    return [
      """
      nonisolated \(raw: modifier) var schemaMetadata: [ModelRuntime.Schema.PropertyMetadata] {
        ModelRuntime._describing(_$describedProperties)
      }
      """,
      """
      private static func _$describedProperties() -> [ModelRuntime.Schema.PropertyMetadata] {
        \(raw: lines.joined(separator: "\n"))
      }
      """,
    ]
  }

  private func propertyMetadata(_ property: PersistedProperty) -> String {
    metadata(
      name: property.name,
      keyPath: "\\\(name).\(property.identifier.text)",
      defaultValue: property.defaultValue,
      metadata: property.options?.expression ?? "nil"
    )
  }

  private func constraints(_ kind: String) -> [String] {
    let macros = MemberTree<MacroExpansionDeclSyntax>(declaration.memberBlock.members) {
      $0.as(MacroExpansionDeclSyntax.self).flatMap { $0.macroName.text == kind ? $0 : nil }
    }
    return macros.statements { macro, _ in
      let generics =
        macro.genericArgumentClause?.trimmedDescription ?? "<\(name)>"
      return metadata(
        name: "SwiftData.Schema.\(kind)",
        keyPath: "\\ModelRuntime.Schema.encodingVersion",
        defaultValue: "nil",
        metadata: "ModelRuntime.Schema.\(kind)\(generics)(\(macro.arguments.trimmedDescription))"
      )
    }
  }

  private func metadata(
    name: String,
    keyPath: String,
    defaultValue: String,
    metadata: String
  ) -> String {
    """
    _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "\(name)", keypath: \(keyPath), defaultValue: \(defaultValue), metadata: \(metadata)))
    """
  }
}

extension PersistedProperty {
  /// The initial value, in the type of the property: `.active` means nothing without it.
  fileprivate var defaultValue: String {
    guard let initializer else { return "nil" }
    guard binding.typeAnnotation != nil, let type else { return initializer.description }
    return "(\(initializer)) as \(type)"
  }
}
