// The runtime's errors, each a case of SwiftDataError with the circumstances filled in: the model,
// the property, the expected and the found value.

import RowFormat

extension SwiftDataError {
  // MARK: Models of several contexts

  static func modelDeletedElsewhere(
    _ identifier: PersistentIdentifier?,
    _ error: VanishedRow? = nil
  ) -> SwiftDataError {
    modelValidationFailure.explained(
      "\(identifier.map { "\($0)" } ?? "a model") has unsaved changes, and was deleted by another context or "
        + "process since it was fetched: delete it here too, or roll back",
      entity: identifier?.entityName,
      causedBy: error
    )
  }

  /// Wraps a store's own error about concurrent saves.
  static func savedMeanwhile(_ error: any Error) -> SwiftDataError {
    modelValidationFailure.explained(
      "the store refuses the save because of what another context or process has saved since the models were "
        + "fetched: fetch again, or roll back",
      causedBy: error
    )
  }

  /// A reference that a save would leave to a row that does not exist.
  static func referenceToNothing(
    _ dangling: DanglingReferences,
    in connection: StoreConnection
  ) -> SwiftDataError {
    guard let first = (dangling.toDeletedRows + dangling.toMissingRows).first else {
      return modelValidationFailure.explained("a relationship leads to nothing", causedBy: dangling)
    }
    let descriptor = connection.descriptor(of: first.row)
    func name(_ row: RowReference) -> String {
      connection.identifier(of: row).map { "\($0)" } ?? "a model"
    }
    let property = descriptor?.properties[safe: first.column]?.name
    let isDeletedHere = !dangling.toDeletedRows.isEmpty
    return modelValidationFailure.explained(
      "\(name(first.row)): \(property ?? "a relationship") leads to \(name(first.target)), which "
        + (isDeletedHere
          ? "this save would delete; another context has attached it meanwhile: fetch again, and delete again"
          : "was deleted by another context or process: choose another, or roll back"),
      entity: descriptor?.entityName,
      property: property,
      causedBy: dangling
    )
  }

  /// A relationship that a save would write, to a model that others have deleted.
  static func referenceToNothing(
    _ property: ModelProperty,
    of model: any PersistentModel,
    to target: PersistentIdentifier?
  ) -> SwiftDataError {
    let entity = model._$state.descriptor.entityName
    return modelValidationFailure.explained(
      "\(entity): \(property.name) leads to \(target.map { "\($0)" } ?? "a model"), which was deleted by a batch, or by "
        + "another context or process: choose another, or roll back",
      entity: entity,
      property: property.name
    )
  }

  // MARK: Classes of several versions

  /// A relationship whose Swift type is a class of another version than the one it leads to.
  static func otherVersion(
    at property: ModelProperty,
    of descriptor: ModelDescriptor
  ) -> SwiftDataError {
    let type = _typeName(descriptor.type, qualified: true)
    let own = property.destination.map { _typeName($0, qualified: true) } ?? ""
    return invalidSchema.explained(
      "\(type).\(property.name) leads to \(own) here, because the schema has that class, and the property is declared "
        + "with the class of another version: use the other end of the relationship, or give the version a class "
        + "\(descriptor.entityName) of its own",
      entity: descriptor.entityName,
      property: property.name
    )
  }

  /// A fetch that follows relationships by the classes they are declared with.
  static func otherVersion(
    _ type: any PersistentModel.Type,
    readByFetchOf model: any PersistentModel.Type,
    in schema: Schema
  ) -> SwiftDataError {
    let name = Schema.entityName(for: type)
    let own = schema.entitiesByName[name]?.modelType.map { _typeName($0, qualified: true) } ?? ""
    let model = _typeName(model, qualified: true)
    return invalidSchema.explained(
      "the fetch of \(model) reads models of \(_typeName(type, qualified: true)), in whose place the schema has \(own): "
        + "ask for \(own), or give the version a class \(Schema.entityName(for: type)) of its own",
      entity: name
    )
  }

  // MARK: Schema and configuration

  static func unsupportedProperty(
    of type: any PersistentModel.Type,
    name: String,
    valueType: any Any.Type
  ) -> SwiftDataError {
    invalidSchema.explained(
      "\(type).\(name): values of type \(valueType) cannot be stored; expected a model, an array of models, "
        + "or a Codable type (or mark the property @Transient)",
      entity: "\(type)",
      property: name
    )
  }

  static func missingEntity(_ name: String) -> SwiftDataError {
    unknownSchema.explained(
      "no store of the container keeps \"\(name)\": add \(name).self to the container's schema",
      entity: name
    )
  }

  static func duplicateConfiguration(named name: String) -> SwiftDataError {
    duplicateConfiguration.explained(
      "two configurations are named \"\(name)\": give each a name of its own"
    )
  }

  static func duplicateConfiguration(at path: String) -> SwiftDataError {
    duplicateConfiguration.explained(
      "two configurations keep their models at \(path): give each a place of its own"
    )
  }

  static func nestedConfigurations(_ inner: String, in outer: String) -> SwiftDataError {
    duplicateConfiguration.explained(
      "a configuration keeps its models at \(inner), which is in the folder of another's store, \(outer): give each a place of "
        + "its own"
    )
  }

  static func configurationSchemaNotFound(
    entity: String,
    configuration: String
  ) -> SwiftDataError {
    configurationSchemaNotFoundInContainerSchema.explained(
      "configuration \"\(configuration)\" lists \(entity), which the container's schema does not have",
      entity: entity
    )
  }

  // MARK: Saving

  static func saveNotAllowed(to connection: StoreConnection) -> SwiftDataError {
    modelValidationFailure.explained(
      connection.isOfThePast
        ? "an earlier state of the store of configuration \"\(connection.configurationName)\" takes no changes: make them in "
          + "a context of today"
        : "configuration \"\(connection.configurationName)\" was opened with allowsSave: false; its models cannot be saved"
    )
  }

  static func missingRelationship(
    of model: PersistentIdentifier,
    property: String
  ) -> SwiftDataError {
    modelValidationFailure.explained(
      "\(model): \(property) must refer to a model, and is nil",
      entity: model.entityName,
      property: property
    )
  }

  static func relationshipCount(
    of model: PersistentIdentifier,
    property: String,
    count: Int,
    minimum: Int,
    maximum: Int
  ) -> SwiftDataError {
    let expected =
      maximum > 0 ? "\(minimum) to \(maximum)" : "at least \(minimum)"
    return modelValidationFailure.explained(
      "\(model): \(property) holds \(count) \(count == 1 ? "model" : "models"), expected \(expected)",
      entity: model.entityName,
      property: property
    )
  }

  static func deleteDenied(
    _ model: PersistentIdentifier,
    property: String,
    by blocking: PersistentIdentifier,
    count: Int
  ) -> SwiftDataError {
    let related =
      count == 1 ? "\(blocking) is" : "\(count) models are, \(blocking) among them,"
    return modelValidationFailure.explained(
      "\(model) cannot be deleted: its delete rule for \(property) is deny, and \(related) related to it",
      entity: model.entityName,
      property: property
    )
  }

  /// A stored composite whose shape differs from its type.
  static func unreadableValue(
    of model: PersistentIdentifier,
    property: String,
    causedBy error: any Error
  ) -> SwiftDataError {
    modelValidationFailure.explained(
      "\(model): the stored value of \(property) is not one of its type, and was read as far as it could be: "
        + "\(error); make new fields optional, or migrate the values. The stored value stays until the property is set",
      entity: model.entityName,
      property: property,
      causedBy: error
    )
  }

  // MARK: Models and contexts

  static func modelInOtherContext(_ model: PersistentIdentifier) -> SwiftDataError {
    missingModelContext.explained(
      "\(model) is registered in another context: fetch it here by its persistentModelID",
      entity: model.entityName
    )
  }

  static func relationshipAcrossContexts(
    of model: PersistentIdentifier,
    property: String,
    to other: PersistentIdentifier
  ) -> SwiftDataError {
    missingModelContext.explained(
      "\(model): \(property) was set to \(other), which is registered in another context, and stays as it was: "
        + "fetch that model here by its persistentModelID",
      entity: model.entityName,
      property: property
    )
  }

  static func relationshipAcrossStores(to model: PersistentIdentifier) -> SwiftDataError {
    modelValidationFailure.explained(
      "a relationship leads to \(model), which another store keeps; relationships cannot cross stores",
      entity: model.entityName
    )
  }

  static func relationshipToUnsavedModel(_ entity: String) -> SwiftDataError {
    modelValidationFailure.explained(
      "a relationship leads to a \(entity) that is not in the context; insert it first",
      entity: entity
    )
  }

  static func identifierNotRemapped(
    _ identifier: PersistentIdentifier,
    by store: String
  ) -> SwiftDataError {
    loadIssueModelContainer.explained(
      "store \"\(store)\" saved \(identifier) and gave no permanent identifier of the entity \(identifier.entityName) for "
        + "it: expected one in DataStoreSaveChangesResult.remappedIdentifiers",
      entity: identifier.entityName
    )
  }

  static let mutationWhileEnumerating = modelValidationFailure.explained(
    "the context has unsaved changes while it enumerates, which keep every model in memory: save in the "
      + "block, or pass allowEscapingMutations: true"
  )
}
