public import Foundation

/// The policy of a save for a new model whose unique values another model already has.
public enum UniquenessPolicy: Hashable, Sendable {
  /// The existing model keeps its identifier and takes over the new one's values: an update if
  /// there is a model to update, an insert if there is none.
  case upsert
  /// The save throws, and names both models; see ``UniquenessConflict``.
  case `throw`
}

/// A configuration with a policy for values that should be unique and are not.
///
/// A configuration that does not conform uses ``UniquenessPolicy/upsert``.
public protocol UniquenessConfiguring: DataStoreConfiguration {
  /// The policy of a save for a new model whose unique values another model has.
  var uniquenessPolicy: UniquenessPolicy { get }
}

/// Two models that cannot both be stored, because they share unique values.
///
/// It is the ``SwiftDataError/underlyingError`` of a ``SwiftDataError/modelValidationFailure``.
public struct UniquenessConflict: Error, Hashable, Sendable {
  /// The reason why the conflict could not be settled by an upsert.
  public enum Reason: Hashable, Sendable {
    /// The configuration requests the error.
    case policy
    /// A change gave a stored model the values of another one; one of the two would have to be deleted.
    case update
    /// A new model has values of two stored models, by two constraints.
    case severalModels
    /// The model that has the values is of another class: a row cannot change its class.
    case otherClass
  }

  /// The entity that declares the constraint.
  public let entityName: String
  /// The properties of the constraint.
  public let properties: [String]
  /// The model whose save was refused; its identifier is temporary if it is new.
  public let model: PersistentIdentifier
  /// The model that already has the values.
  public let holder: PersistentIdentifier
  /// The reason why an upsert did not settle it.
  public let reason: Reason

  /// Makes a description of a conflict.
  public init(
    entityName: String,
    properties: [String],
    model: PersistentIdentifier,
    holder: PersistentIdentifier,
    reason: Reason
  ) {
    self.entityName = entityName
    self.properties = properties
    self.model = model
    self.holder = holder
    self.reason = reason
  }
}

extension UniquenessConflict: CustomStringConvertible, LocalizedError {
  public var description: String {
    let names = properties.joined(separator: ", ")
    let remedy =
      switch reason {
      case .policy: "the configuration's uniquenessPolicy is throw"
      case .update: "a changed model does not replace a stored one: delete one of the two first"
      case .severalModels:
        "another constraint leads to another stored model; the save cannot update both"
      case .otherClass: "the two are of different classes, so one cannot be updated to be the other"
      }
    return
      "\(model): \(entityName) is unique by \(names), and \(holder) has the same value; \(remedy)"
  }

  public var errorDescription: String? { description }
}

extension SwiftDataError {
  static func notUnique(_ conflict: UniquenessConflict) -> SwiftDataError {
    modelValidationFailure.explained(
      conflict.description,
      entity: conflict.model.entityName,
      property: conflict.properties.first,
      causedBy: conflict
    )
  }
}
