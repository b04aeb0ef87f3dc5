/// The shape of stored data: entities, their attributes and relationships, under a version.
///
/// A schema made from model classes also contains the classes their relationships lead to, and the
/// superclasses of them all. Subclasses are not discovered: list them.
///
/// Making one never fails. Errors in the model types are kept, and thrown by the
/// ``ModelContainer`` that receives the schema.
public final class Schema: Codable, Hashable, Sendable {
  /// The version of the format in which schemas are encoded.
  public static let schemaEncodingVersion = Version(1, 0, 0)

  /// The version of the format in which this schema was encoded.
  public let encodingVersion: Version
  /// The version that its author gave it.
  public let version: Version
  /// The entities: first the listed ones, then those they lead to.
  public let entities: [Entity]
  /// The entities by name.
  public let entitiesByName: [String: Entity]
  /// The errors in the model types, in the order of discovery.
  package let problems: [SwiftDataError]

  /// Whether the version comes from a ``VersionedSchema``.
  private let isNumbered: Bool
  /// Whether a relationship leads to another class than its property is declared with, because the schema has a class of
  /// that name itself.
  package let isMixed: Bool
  private let entitiesByType: [ObjectIdentifier: Entity]

  init(
    entities: [Entity],
    version: Version,
    encodingVersion: Version = schemaEncodingVersion,
    problems: [SwiftDataError],
    isNumbered: Bool = false,
    isMixed: Bool = false
  ) {
    self.isNumbered = isNumbered
    self.isMixed = isMixed
    self.encodingVersion = encodingVersion
    self.version = version
    self.entities = entities
    self.problems = problems
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    entitiesByType = Dictionary(
      entities.compactMap { entity in entity.modelType.map { (ObjectIdentifier($0), entity) } }
    ) { first, _ in first }
  }

  /// Throws the errors in the model types, all in one error.
  ///
  /// - Throws: ``SwiftDataError/invalidSchema``, its message naming types and properties.
  package func validate() throws(SwiftDataError) {
    guard let first = problems.first else { return }
    guard problems.count > 1 else { throw first }
    throw first.explained(problems.map(\.message).joined(separator: "; "))
  }
}

// MARK: Making one

extension Schema {
  /// Whether the author gave the schema a number: one made without is 1.0.0, which does not tell its age.
  package var isVersioned: Bool { isNumbered || version != Schema.unversioned }

  /// The same entities as those of a numbered version.
  func numbered(_ version: Version) -> Schema {
    Schema(
      entities: entities,
      version: version,
      encodingVersion: encodingVersion,
      problems: problems,
      isNumbered: true,
      isMixed: isMixed
    )
  }

  /// The number that the models of a container have: the one that they were given, or in a plan that of the version with these
  /// classes, or else of the newest with their shape; `nil` if there is none.
  func version(in plan: (any SchemaMigrationPlan.Type)?) -> Version? {
    if isVersioned { return version }
    guard let plan else { return nil }
    let alike = plan.versions.map { Schema(versionedSchema: $0) }.filter { $0.checksum == checksum }
    return (alike.last { $0.hasClasses(of: self) } ?? alike.last)?.version
  }

  /// Whether another schema's classes are all among this one's: two versions may have classes of one shape.
  func hasClasses(of other: Schema) -> Bool {
    let own = Set(modelTypes.map(ObjectIdentifier.init))
    return other.modelTypes.allSatisfy { own.contains(ObjectIdentifier($0)) }
  }

  /// The version of a schema without a given one.
  package static let unversioned = Version(1, 0, 0)

  /// Creates a schema without entities.
  public convenience init() {
    self.init(entities: [], version: Version(1, 0, 0), problems: [])
  }

  /// Creates a schema of manually created entities.
  ///
  /// - Parameters:
  ///   - entities: The entities; relationships and superentities are linked by name.
  ///   - version: The version of the schema.
  public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
    let problems = EntityLinker.link(entities)
    self.init(entities: entities, version: version, problems: problems)
  }

  /// Creates a schema of model classes, and of those their relationships lead to.
  ///
  /// - Parameters:
  ///   - types: The model classes.
  ///   - version: The version of the schema.
  public convenience init(
    _ types: any PersistentModel.Type...,
    version: Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version)
  }

  /// Creates a schema of model classes, and of those their relationships lead to.
  ///
  /// - Parameters:
  ///   - types: The model classes.
  ///   - version: The version of the schema.
  public convenience init(
    _ types: [any PersistentModel.Type],
    version: Version = Version(1, 0, 0)
  ) {
    var builder = SchemaBuilder()
    builder.add(types)
    let problems = builder.finish()
    self.init(
      entities: builder.entities,
      version: version,
      problems: problems,
      isMixed: builder.isMixed
    )
  }

  /// Creates a schema of some classes of another, whose relationships lead where they lead there.
  package convenience init(_ types: [any PersistentModel.Type], of whole: Schema) {
    var builder = SchemaBuilder()
    builder.add(types, among: whole.modelTypes)
    let problems = builder.finish()
    self.init(
      entities: builder.entities,
      version: whole.version,
      problems: problems,
      isMixed: builder.isMixed
    )
  }

  /// Creates the schema of one version in a migration plan.
  ///
  /// - Parameter versionedSchema: The version: its models and its number.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    var builder = SchemaBuilder()
    builder.add(versionedSchema.models)
    let problems = builder.finish()
    self.init(
      entities: builder.entities,
      version: versionedSchema.versionIdentifier,
      problems: problems,
      isNumbered: true,
      isMixed: builder.isMixed
    )
  }
}

// MARK: Finding an entity

extension Schema {
  /// Returns the entity of a model class, or `nil` if the schema has none.
  public func entity<T>(for type: T.Type) -> Entity? where T: PersistentModel {
    entitiesByType[ObjectIdentifier(type)] ?? entitiesByName[Schema.entityName(for: type)]
  }

  /// Returns the name of a model class's entity: the name of the class without enclosing types.
  public static func entityName<T>(for type: T.Type) -> String where T: PersistentModel {
    _typeName(type, qualified: false)
  }

  /// Returns the entity made from exactly this class, or `nil` if there is none.
  package func entity(forModelType type: any PersistentModel.Type) -> Entity? {
    entitiesByType[ObjectIdentifier(type)]
  }
}
