import Observation
package import RowFormat

/// One persisted property of a model class.
///
/// Unchecked, because key paths and default values are not declared Sendable; nothing changes once the
/// property's descriptor is published.
package final class ModelProperty: @unchecked Sendable {
  package enum Kind {
    case attribute(any AttributeCodec)
    case toOne(any PersistentModel.Type)
    case toMany(any PersistentModel.Type)
  }

  package let name: String
  /// The position among the properties of the class, its superclasses' first; also the column.
  package let ordinal: Int
  package let keyPath: AnyKeyPath
  package let kind: Kind
  /// Whether the relationship leads to the class that the property is declared with: another version's class may lead to the
  /// one of its name in the schema.
  let isDeclaredSo: Bool
  package let isOptional: Bool
  /// The codec that passes the values of the property through a transformer, if any.
  let transformableCodec: TransformableCodec?
  /// The options the user gave, of an attribute or of a relationship; `nil` if there are none.
  package let attribute: Schema.Attribute?
  package let relationship: Schema.Relationship?
  package let defaultValue: Any?
  /// The derivation from which the store computes the property, if it does.
  let derivation: Schema.Derivation?
  /// The position among the relationships of the class; meaningless for an attribute.
  let relationIndex: Int
  /// Tells observers of the property of a model that it changed.
  let notify: (AnyObject) -> Void

  /// The property at the other end of the relationship, once the destination is known.
  ///
  /// Written once, before the descriptor is published. (Descriptors are never freed.)
  @safe @exclusivity(unchecked) package internal(set) var inverse: ModelProperty?

  /// The class at the other end of the relationship; written once, too.
  @safe @exclusivity(unchecked) var destinationDescriptor: ModelDescriptor?

  /// Whether the relationship can lead to models of a class.
  ///
  /// A row may name a model of another class: it is from before the property had this destination, and reads as nil.
  package func canLead(to descriptor: ModelDescriptor?) -> Bool {
    guard let descriptor, let destinationDescriptor else { return false }
    return descriptor.isKind(of: destinationDescriptor)
  }

  init(
    metadata: Schema.PropertyMetadata,
    ordinal: Int,
    kind: Kind,
    isDeclaredSo: Bool,
    isOptional: Bool,
    relationIndex: Int,
    notify: @escaping (AnyObject) -> Void
  ) {
    name = metadata.name
    keyPath = metadata.keypath
    let options = metadata.metadata as? Schema.Attribute
    switch kind {
    case .attribute(let codec):
      (attribute, relationship) = (options, nil)
      transformableCodec = codec as? TransformableCodec
    case .toOne, .toMany:
      (attribute, relationship) = (nil, .declared(by: metadata.metadata))
      transformableCodec = nil
    }
    derivation = options?.derivation
    defaultValue = metadata.defaultValue
    self.ordinal = ordinal
    self.kind = kind
    self.isDeclaredSo = isDeclaredSo
    self.isOptional = isOptional
    self.relationIndex = relationIndex
    self.notify = notify
  }

  /// The name the property had in an earlier version, if it was renamed.
  package var originalName: String? {
    let name = attribute?.originalName ?? relationship?.originalName ?? ""
    return name.isEmpty || name == self.name ? nil : name
  }

  package var destination: (any PersistentModel.Type)? {
    switch kind {
    case .attribute: nil
    case .toOne(let type), .toMany(let type): type
    }
  }

  package var isRelationship: Bool { destination != nil }

  /// Makes the list of a to-many relationship.
  func makeList(_ models: [any PersistentModel]) -> RelatedModels {
    func make<D: PersistentModel>(_: D.Type) -> RelatedModels {
      // The usual case; an array of a class known only at run time takes long to convert, even if it is empty.
      models.isEmpty
        ? RelatedModelsOf<D>([]) : RelatedModelsOf<D>(models.compactMap { $0 as? D })
    }
    guard let destination else { preconditionFailure("\(name) is no relationship") }
    return make(destination)
  }

  package var isToMany: Bool {
    if case .toMany = kind { true } else { false }
  }

  /// Whether the list can be found from the other end alone: each member names its single owner.
  package var isDerivable: Bool {
    isToMany && inverse?.isToMany == false
  }

  /// Whether the list is stored with its owner, and cannot be found from the other end.
  package var isStoredList: Bool { isToMany && !isDerivable }

  package var deleteRule: Schema.Relationship.DeleteRule { relationship?.deleteRule ?? .nullify }

  package var columnType: ColumnType {
    switch kind {
    case .attribute(let codec): mayUseSideFiles(codec) ? .blob : codec.columnType
    case .toOne: .reference
    case .toMany: .references
    }
  }

  /// Whether large values are stored in files of their own.
  ///
  /// Values that must be unique stay in the row, where they can be compared, and so do values that outlive
  /// their row in the history; and the fields of a composite, unless it is to be stored whole.
  private func mayUseSideFiles(_ codec: any AttributeCodec) -> Bool {
    guard let attribute, attribute.options.contains(.externalStorage), !attribute.isUnique,
      !attribute.options.contains(.preserveValueOnDeletion)
    else { return false }
    return codec.mayUseSideFiles || codec.columnType == .structured && attribute.isCodable
  }
}
