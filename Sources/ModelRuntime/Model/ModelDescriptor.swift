import Foundation
package import RowFormat
import Synchronization

/// The runtime's description of a model class: its properties, their columns, their inverses.
///
/// One for each class and process, made from `schemaMetadata` on first use. A schema decides which
/// classes a container stores; the description does not depend on it, so that models work
/// without any container. Only a schema that relates its classes otherwise than they are declared has
/// descriptors of its own (``related(_:)``): their properties have the same ordinals.
///
/// Unchecked, because it is built in steps; nothing changes once it is published.
package final class ModelDescriptor: @unchecked Sendable {
  package let type: any PersistentModel.Type
  /// The identity of the class, which several descriptors may describe: see ``related(_:)``.
  package let classID: ObjectIdentifier
  package let entityName: String
  package let superclass: ModelDescriptor?
  /// The superclass's properties, then the class's own, in declaration order.
  package let properties: [ModelProperty]
  package let relationships: [ModelProperty]
  /// The properties whose values no store keeps.
  let ephemerals: [ModelProperty]
  /// Whether any property is derived.
  package let isDeriving: Bool
  /// The columns: one for each property, then the hidden rank columns.
  @safe @exclusivity(unchecked) package private(set) var layout = RowLayout([])
  /// For each to-one property whose other end is a list, the hidden column that keeps the model's
  /// place in that list; by ordinal.
  package private(set) var rankColumns: [Int: Int] = [:]
  /// The same by ordinal for every property; -1 without a rank column.
  ///
  /// A subclass has other columns for the properties it inherits.
  private var rankColumnsByOrdinal: [Int] = []

  /// The hidden column that keeps the model's place in the list at a property's other end, if that is a list.
  func rankColumn(of property: ModelProperty) -> Int? {
    let column = rankColumnsByOrdinal[property.ordinal]
    return column < 0 ? nil : column
  }

  /// The to-one relationships whose targets the row determines, as long as they were not set.
  ///
  /// They have an inverse, which ensures that they lead to no deleted model; and the inverse is no to-one itself, which
  /// could have been set to lead elsewhere. Properties beyond the 63rd are not included.
  @safe @exclusivity(unchecked) private(set) var storedToOnes = ColumnSet()

  private let ordinalsByKeyPath: [AnyKeyPath: Int]
  /// The key paths looked up so far.
  private let knownKeyPaths = KeyPathOrdinals()
  private let ordinalsByName: [String: Int]

  /// The origin of temporary identifiers of the class's models: looked up once, as that takes a lock.
  let temporaryOrigin: IdentifierOrigin

  /// Makes the objects of fetched rows; created on first use.
  private let template = AtomicLazyReference<ModelTemplate>()
  /// The address of the template, 0 while there is none: loading a number takes a tenth of the time of loading the reference.
  private let templateAddress = Atomic<UInt>(0)

  /// Casts an object of the class to its model protocol.
  let model: (AnyObject) -> any PersistentModel

  /// Whether the descriptor is one of a schema that relates its classes otherwise than they are declared.
  private let isOfSchema: Bool

  /// The errors in the class, if any: a property whose type cannot be stored.
  package let problems: [SwiftDataError]

  private init(
    type: any PersistentModel.Type,
    isOfSchema: Bool,
    superclass: ModelDescriptor?,
    properties: [ModelProperty],
    problems: [SwiftDataError]
  ) {
    self.isOfSchema = isOfSchema
    self.type = type
    classID = ObjectIdentifier(type)
    self.superclass = superclass
    self.properties = properties
    self.problems = problems
    entityName = Schema.entityName(for: type)
    temporaryOrigin = .named(store: nil, entity: entityName)
    model = ModelDescriptor.caster(type)
    relationships = properties.filter(\.isRelationship)
    ephemerals = properties.filter(\.isEphemeral)
    isDeriving = properties.contains(where: \.isDerived)
    var byKeyPath: [AnyKeyPath: Int] = superclass?.ordinalsByKeyPath ?? [:]
    var byName: [String: Int] = [:]
    for property in properties {
      byKeyPath[property.keyPath] = property.ordinal
      byName[property.name] = property.ordinal
    }
    ordinalsByKeyPath = byKeyPath
    ordinalsByName = byName
  }

  /// Returns the template for objects of fetched rows.
  func makeTemplate() -> ModelTemplate {
    let address = templateAddress.load(ordering: .acquiring)
    if let known = unsafe UnsafeRawPointer(bitPattern: address) {
      return unsafe Unmanaged<ModelTemplate>.fromOpaque(known).takeUnretainedValue()
    }
    // Making a template runs the user's initializer: two threads may make one each, and the first is kept.
    let made = template.storeIfNil(ModelTemplate.make(for: type))
    let opaque = unsafe Unmanaged.passUnretained(made).toOpaque()
    templateAddress.store(UInt(bitPattern: opaque), ordering: .releasing)
    return made
  }

  /// The property of a key path of the class, or `nil` if it is not a persisted one.
  package func property(for keyPath: AnyKeyPath) -> ModelProperty? {
    if let known = knownKeyPaths[keyPath] { return properties[known] }
    guard let ordinal = ordinalsByKeyPath[keyPath] else { return nil }
    knownKeyPaths.remember(keyPath, ordinal)
    return properties[ordinal]
  }

  package func property(named name: String) -> ModelProperty? {
    ordinalsByName[name].map { properties[$0] }
  }

  /// Whether the class is `other` or inherits from it.
  package func isKind(of other: ModelDescriptor) -> Bool {
    var next: ModelDescriptor? = self
    while let descriptor = next {
      if descriptor.classID == other.classID { return true }
      next = descriptor.superclass
    }
    return false
  }

  /// The name of a column, for the store's catalogue; hidden columns begin with an underscore.
  package func columnName(_ column: Int) -> String {
    if column < properties.count { return properties[column].name }
    let owner = rankColumns.first { $0.value == column }.map { properties[$0.key].name }
    return RankColumn.name(for: owner ?? "\(column)")
  }
}

// MARK: Making descriptors

extension ModelDescriptor {
  /// The descriptor of a class.
  ///
  /// - Complexity: A hash look-up; the first call for a class also builds the classes it reaches.
  package static func of(_ type: any PersistentModel.Type) -> ModelDescriptor {
    if let known = registry.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    // Default values are the user's code, which may create models itself: none of it runs under the
    // lock.
    var blueprints: [Blueprint] = []
    var seen: Set<ObjectIdentifier> = []
    draw(type, &blueprints, &seen)
    return registry.withLock { registry in
      var made: [ModelDescriptor] = []
      for blueprint in blueprints where registry[ObjectIdentifier(blueprint.type)] == nil {
        made.append(make(blueprint, &registry))
      }
      for descriptor in made { descriptor.findInverses(registry) }
      for descriptor in made { descriptor.layOut() }
      guard let descriptor = registry[ObjectIdentifier(type)] else {
        preconditionFailure("\(type) was drawn and not made")
      }
      return descriptor
    }
  }

  private static let registry = Mutex<[ObjectIdentifier: ModelDescriptor]>([:])

  /// The metadata that a class declares.
  struct Blueprint {
    let type: any PersistentModel.Type
    let superclass: (any PersistentModel.Type)?
    let metadata: [Schema.PropertyMetadata]
  }

  /// Collects a class and everything it reaches, superclasses first.
  static func draw(
    _ type: any PersistentModel.Type,
    _ blueprints: inout [Blueprint],
    _ seen: inout Set<ObjectIdentifier>
  ) {
    guard seen.insert(ObjectIdentifier(type)).inserted else { return }
    let superclass = _getSuperclass(type) as? any PersistentModel.Type
    if let superclass { draw(superclass, &blueprints, &seen) }
    let metadata = type.schemaMetadata
    blueprints.append(Blueprint(type: type, superclass: superclass, metadata: metadata))
    for entry in metadata where !entry.isConstraint {
      switch kind(of: Swift.type(of: entry.keypath).valueType, entry.metadata)?.kind {
      case .toOne(let destination), .toMany(let destination):
        draw(destination, &blueprints, &seen)
      case .attribute, nil: break
      }
    }
  }

  /// Builds a class, without inverses, which need all classes.
  ///
  /// - Parameters:
  ///   - blueprint: The metadata of the class.
  ///   - registry: The classes so far, by their identity.
  ///   - classes: The classes that relationships lead to, by entity name, in the place of those they are declared with.
  /// - Returns: The descriptor, which is also in the registry.
  static func make(
    _ blueprint: Blueprint,
    _ registry: inout [ObjectIdentifier: ModelDescriptor],
    relatedTo classes: [String: any PersistentModel.Type] = [:]
  ) -> ModelDescriptor {
    let type = blueprint.type
    let superclass = blueprint.superclass.flatMap { registry[ObjectIdentifier($0)] }
    var properties = superclass?.properties ?? []
    var problems: [SwiftDataError] = []
    var relationIndex = superclass?.relationships.count ?? 0
    for metadata in blueprint.metadata where !metadata.isConstraint {
      let valueType = Swift.type(of: metadata.keypath).valueType
      guard let (kind, isOptional) = kind(of: valueType, metadata.metadata) else {
        problems.append(.unsupportedProperty(of: type, name: metadata.name, valueType: valueType))
        continue
      }
      properties.append(
        ModelProperty(
          metadata: metadata,
          ordinal: properties.count,
          kind: kind.leading(to: classes),
          isDeclaredSo: kind.leading(to: classes).leads(whereLeads: kind),
          isOptional: isOptional,
          relationIndex: relationIndex,
          notify: notifier(type, metadata.keypath)
        )
      )
      if case .attribute = kind { continue }
      relationIndex += 1
    }
    let descriptor = ModelDescriptor(
      type: type,
      isOfSchema: !classes.isEmpty,
      superclass: superclass,
      properties: properties,
      problems: problems
    )
    registry[ObjectIdentifier(type)] = descriptor
    return descriptor
  }

  private static func kind(
    of valueType: any Any.Type,
    _ options: (any SchemaProperty)?
  ) -> (kind: ModelProperty.Kind, isOptional: Bool)? {
    if let transformerName = (options as? Schema.Attribute)?.transformerName {
      let isOptional = TypeMetadata.isOptional(valueType)
      let codec = TransformableCodec(transformerName: transformerName, isOptional: isOptional)
      return (.attribute(codec), isOptional)
    }
    let wrapped = TypeMetadata.unwrapped(valueType)
    let isOptional = TypeMetadata.isOptional(valueType)
    if let model = modelType(wrapped) { return (.toOne(model), isOptional) }
    if let model = TypeMetadata.elementType(of: wrapped).flatMap(modelType) {
      return (.toMany(model), isOptional)
    }
    return attributeCodec(for: valueType).map { (.attribute($0), $0.isOptional) }
  }

  private static func caster(
    _ type: any PersistentModel.Type
  ) -> (AnyObject) -> any PersistentModel {
    func open<M: PersistentModel>(_: M.Type) -> (AnyObject) -> any PersistentModel {
      { unsafe unsafeDowncast($0, to: M.self) }
    }
    return open(type)
  }

  private static func notifier(
    _ type: any PersistentModel.Type,
    _ keyPath: AnyKeyPath
  ) -> (AnyObject) -> Void {
    func open<M: PersistentModel>(_: M.Type) -> (AnyObject) -> Void {
      guard let partial = keyPath as? PartialKeyPath<M> else { return { _ in } }
      return { model in
        guard let model = model as? M else { return }
        _notifyChange(of: model, partial)
      }
    }
    return open(type)
  }

  /// Pairs each relationship with the property at its other end.
  ///
  /// An inverse that is named, at either end, wins. Otherwise there must be exactly one property
  /// over there that leads back here, and exactly one here that leads there. Only the properties that the two
  /// classes declare themselves count: a list of the superclass may hold models that cannot lead
  /// back. ``InverseLinker`` finds the same, and reports ambiguities.
  func findInverses(_ registry: [ObjectIdentifier: ModelDescriptor]) {
    let own = superclass?.properties.count ?? 0
    for property in properties[own...] {
      guard let type = property.destination, let other = registry[ObjectIdentifier(type)] else {
        continue
      }
      property.destinationDescriptor = other
      if let named = property.relationship?.inverseKeyPath {
        property.inverse = other.property(atInverse: named).flatMap {
          isInverse(property, of: $0, named) ? $0 : nil
        }
        continue
      }
      let back = other.relationships.filter { candidate in
        candidate.destination.flatMap { registry[ObjectIdentifier($0)] }.map(isKind(of:)) ?? false
      }
      if let naming = back.first(where: {
        $0.relationship?.inverseKeyPath.flatMap { self.property(atInverse: $0) } === property
      }) {
        property.inverse = naming
        continue
      }
      let inherited = other.superclass?.properties.count ?? 0
      let free = back.filter {
        $0.relationship?.inverseKeyPath == nil && $0 !== property && $0.ordinal >= inherited
          && $0.destination.map(ObjectIdentifier.init) == ObjectIdentifier(self.type)
      }
      let rivals = relationships.filter {
        $0.relationship?.inverseKeyPath == nil && $0.ordinal >= own
          && $0.destination.map(ObjectIdentifier.init) == ObjectIdentifier(type)
          && !isNamed($0, by: back)
      }
      // A relationship of a class with itself has no candidate but itself: none is inferred.
      if free.count == 1, rivals.count == 1, other !== self,
        !other.isNamed(free[0], by: relationships)
      {
        property.inverse = free[0]
      }
    }
  }

  /// Whether a property has the inverse that it names: that one names it, or names none, and no list declared before it
  /// names the same, which is that one's alone.
  private func isInverse(
    _ property: ModelProperty,
    of inverse: ModelProperty,
    _ name: AnyKeyPath
  ) -> Bool {
    if let back = inverse.relationship?.inverseKeyPath {
      return self.property(atInverse: back) === property
    }
    return !property.isToMany
      || !relationships.contains {
        $0.ordinal < property.ordinal && $0.isToMany && $0.relationship?.inverseKeyPath == name
          && $0.destination.map(ObjectIdentifier.init)
            == property.destination.map(ObjectIdentifier.init)
      }
  }

  /// Whether one of `others` names a property of the class as its inverse.
  private func isNamed(_ property: ModelProperty, by others: [ModelProperty]) -> Bool {
    others.contains {
      $0.relationship?.inverseKeyPath.flatMap { self.property(atInverse: $0) } === property
    }
  }

  /// The property that a relationship to the class names as its inverse, maybe by a key path of the class that the
  /// relationship is declared with.
  private func property(atInverse keyPath: AnyKeyPath) -> ModelProperty? {
    if let own = property(for: keyPath) { return own }
    guard isOfSchema else { return nil }
    return ModelDescriptor.propertyName(keyPath, of: entityName).flatMap { property(named: $0) }
  }

  /// Assigns each property its column, and a rank to each to-one whose other end is a list.
  func layOut() {
    var types = properties.map(\.columnType)
    var ranks = properties.map { _ in -1 }
    for property in properties {
      if case .toOne = property.kind, property.inverse?.isToMany == true {
        if property.ordinal < 63, property.isDeclaredSo { storedToOnes.insert(property.ordinal) }
        rankColumns[property.ordinal] = types.count
        ranks[property.ordinal] = types.count
        types.append(.integer)
      }
    }
    rankColumnsByOrdinal = ranks
    layout = RowLayout(types)
  }
}

extension Schema.PropertyMetadata {
  /// Whether the entry carries `#Index` or `#Unique` instead of a property.
  package var isConstraint: Bool { name.hasPrefix("SwiftData.Schema.") }
}
