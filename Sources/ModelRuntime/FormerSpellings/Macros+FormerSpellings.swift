/// Describes how a property relates its model to others, with an unlabeled delete rule.
@available(*, deprecated, message: "label the delete rule: deleteRule:")
@attached(peer)
public macro Relationship(
  _ deleteRule: Schema.Relationship.DeleteRule,
  minimumModelCount: Int? = 0,
  maximumModelCount: Int? = 0,
  originalName: String? = nil,
  inverse: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "ModelMacros", type: "RelationshipPropertyMacro")
