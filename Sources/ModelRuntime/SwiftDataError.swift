public import Foundation

/// An error of the framework.
///
/// Errors are distinguished by their case alone, as in `catch SwiftDataError.unsupportedPredicate`: two
/// errors of one case are equal, and each may carry its own ``message``, the entity and property it
/// concerns, and the ``underlyingError`` that caused it.
public struct SwiftDataError: Error, Hashable {
  enum Code: String, Sendable {
    case includePendingChangesWithBatchSize
    case unsupportedPredicate
    case unsupportedKeyPath
    case sortingPendingChangesWithIdentifiers
    case unsupportedSortDescriptor
    case duplicateConfiguration
    case configurationFileNameTooLong
    case configurationFileNameContainsInvalidCharacters
    case configurationSchemaNotFoundInContainerSchema
    case loadIssueModelContainer
    case modelValidationFailure
    case missingModelContext
    case backwardMigration
    case unknownSchema
    case unknownDataStoreSchema
    case historyTokenExpired
    case invalidTransactionFetchRequest
    case invalidSchema
    case migrationUnavailable
    case aggregateOverflow
    case aggregateTooLarge
    case expressionFailure
    case invalidPercentile
    case storeClosed
  }

  let code: Code
  /// The description of the error, in a sentence that names the type and the property.
  public private(set) var message: String
  /// The entity that the error concerns, if any.
  public private(set) var entityName: String?
  /// The property that the error concerns, if any.
  public private(set) var propertyName: String?
  /// The error that caused this one.
  public private(set) var underlyingError: (any Error)?

  private init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Returns the same error with its circumstances.
  ///
  /// - Parameters:
  ///   - message: The event, its place, and the expectation.
  ///   - entity: The name of the entity that it concerns.
  ///   - property: The name of the property that it concerns.
  ///   - error: The error that caused it.
  /// - Returns: An error of the same case, and so equal to this one.
  public func explained(
    _ message: String,
    entity: String? = nil,
    property: String? = nil,
    causedBy error: (any Error)? = nil
  ) -> SwiftDataError {
    var copy = self
    copy.message = message
    copy.entityName = entity ?? entityName
    copy.propertyName = property ?? propertyName
    copy.underlyingError = error ?? underlyingError
    return copy
  }

  public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.code == rhs.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// Whether an error is of a case, as in `catch SwiftDataError.unsupportedPredicate`.
  public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool {
    (rhs as? SwiftDataError)?.code == lhs.code
  }
}

// MARK: The cases

extension SwiftDataError {
  /// A fetch in batches cannot include unsaved changes.
  public static let includePendingChangesWithBatchSize = SwiftDataError(
    .includePendingChangesWithBatchSize,
    "a fetch with a batch size cannot include pending changes"
  )
  /// A sum does not fit the type of the property.
  ///
  /// Apple's framework has no aggregates, and no such error.
  public static let aggregateOverflow = SwiftDataError(
    .aggregateOverflow,
    "the sum does not fit the type of the property"
  )
  /// The groups of an aggregate, or the values for a percentile or a distinct count, exceed their memory
  /// limit.
  ///
  /// Apple's framework has no aggregates, and no such error.
  public static let aggregateTooLarge = SwiftDataError(
    .aggregateTooLarge,
    "the groups of an aggregate take more memory than they may"
  )
  /// An expression that is measured, or grouped by, has no value for some model: it may divide by zero.
  ///
  /// Apple's framework has no aggregates, and no such error.
  public static let expressionFailure = SwiftDataError(
    .expressionFailure,
    "an expression has no value for a model"
  )
  /// The share of a percentile is not from 0 to 1.
  ///
  /// Apple's framework has no aggregates, and no such error.
  public static let invalidPercentile = SwiftDataError(
    .invalidPercentile,
    "the share of a percentile is not from 0 to 1"
  )
  /// A part of a predicate cannot be evaluated by the store.
  public static let unsupportedPredicate = SwiftDataError(
    .unsupportedPredicate,
    "the predicate is not supported"
  )
  /// A key path does not lead to a stored property.
  public static let unsupportedKeyPath = SwiftDataError(
    .unsupportedKeyPath,
    "the key path does not lead to a stored property"
  )
  /// Identifiers cannot be sorted while there are unsaved changes.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
    .sortingPendingChangesWithIdentifiers,
    "identifiers of pending changes cannot be sorted"
  )
  /// A sort descriptor uses a comparator or a key path that cannot be translated.
  public static let unsupportedSortDescriptor = SwiftDataError(
    .unsupportedSortDescriptor,
    "the sort descriptor is not supported"
  )
  /// Two configurations of a container have one name or one URL, or the URL of one lies in the folder of the other's store.
  public static let duplicateConfiguration = SwiftDataError(
    .duplicateConfiguration,
    "two configurations share a name or a URL"
  )
  /// The file name of a configuration exceeds the limit of file systems.
  public static let configurationFileNameTooLong = SwiftDataError(
    .configurationFileNameTooLong,
    "the configuration's file name is too long"
  )
  /// The file name of a configuration has characters that file systems reject.
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    .configurationFileNameContainsInvalidCharacters,
    "the configuration's file name contains invalid characters"
  )
  /// A configuration's schema has an entity that the container's schema lacks.
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    .configurationSchemaNotFoundInContainerSchema,
    "the configuration's schema is not part of the container's schema"
  )
  /// A container could not open or migrate one of its stores.
  public static let loadIssueModelContainer = SwiftDataError(
    .loadIssueModelContainer,
    "the model container could not be loaded"
  )
  /// A model breaks a rule of its schema.
  public static let modelValidationFailure = SwiftDataError(
    .modelValidationFailure,
    "a model is not valid"
  )
  /// An operation needs a model that is registered in a context.
  public static let missingModelContext = SwiftDataError(
    .missingModelContext,
    "the model has no context"
  )
  /// The store was written by a version newer than the models it is opened with; see ``NewerStorePolicy``.
  public static let backwardMigration = SwiftDataError(
    .backwardMigration,
    "the store is newer than the schema it is opened with"
  )
  /// The schema is not in the migration plan.
  public static let unknownSchema = SwiftDataError(
    .unknownSchema,
    "the schema is not part of the migration plan"
  )
  /// The store's schema is not in the migration plan.
  public static let unknownDataStoreSchema = SwiftDataError(
    .unknownDataStoreSchema,
    "the store's schema is not part of the migration plan"
  )
  /// The history before a token has been deleted.
  public static let historyTokenExpired = SwiftDataError(
    .historyTokenExpired,
    "the history before the token has been deleted"
  )
  /// A fetch of history cannot be run.
  public static let invalidTransactionFetchRequest = SwiftDataError(
    .invalidTransactionFetchRequest,
    "the history request cannot be run"
  )
}

// MARK: Cases that Apple's framework lacks

extension SwiftDataError {
  /// The model types do not form a schema; Apple's framework traps instead.
  public static let invalidSchema = SwiftDataError(.invalidSchema, "the schema is not valid")
  /// The store needs a migration that the framework cannot run.
  public static let migrationUnavailable = SwiftDataError(
    .migrationUnavailable,
    "the store needs a migration"
  )
  /// The store was closed: by its container, or because its file was opened again with other models.
  public static let storeClosed = SwiftDataError(.storeClosed, "the store was closed")
}

// MARK: Printing

extension SwiftDataError: CustomStringConvertible, LocalizedError {
  public var description: String {
    "SwiftDataError.\(code.rawValue): \(message)\(cause.map { ": \($0)" } ?? "")"
  }

  /// The cause, unless the message tells it.
  private var cause: String? {
    switch underlyingError {
    case nil, is MergeConflicts: return nil
    case let error?:
      let text = "\(error)"
      return message.contains(text) ? nil : text
    }
  }

  public var errorDescription: String? { description }
}
