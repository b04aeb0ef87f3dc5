/// Says how a property relates its model to others, the delete rule without its label.
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
