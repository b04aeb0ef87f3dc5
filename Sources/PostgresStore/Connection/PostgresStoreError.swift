#if PostgreSQL
public import Foundation

/// An error of a ``PostgresStore``.
///
/// None of them carries a password: of the address only the host and the database are named.
public enum PostgresStoreError: Error, Hashable, Sendable {
  /// No session could be opened within the configuration's `reconnectBudget`.
  case cannotConnect(to: String, reason: String)
  /// The session ended in the middle of an operation, and could not be opened again.
  case connectionLost(to: String, reason: String)
  /// The session ended while a save was being committed, and none could be opened to ask for its outcome: the save is there
  /// as a whole, or not at all.
  case saveUnresolved(reason: String)
  /// The server refused a statement.
  case server(ServerError)
  /// The server ended a statement that took longer than the configuration's `statementTimeout`.
  case statementTimedOut(limit: Duration)
  /// All sessions that the configuration allows were in use.
  case noFreeConnection(limit: Int, waited: Duration)
  /// The server is older than the store can use.
  case unsupportedServer(version: Int, minimum: Int)
  /// The database does not keep its text in UTF-8.
  case unsupportedEncoding(String)
  /// A name is longer than the 63 bytes that PostgreSQL keeps of it, or is one that the store needs itself.
  case unusableName(String, reason: String)
  /// A limit in time is shorter than the server can measure.
  case unusableTimeout(Duration)
  /// A value of a property cannot be kept by the server.
  case unstorableValue(entity: String, property: String, key: UInt64, reason: String)
  /// A stored value is not one of the property's type.
  case unreadableValue(entity: String, property: String, key: UInt64, reason: String)
  /// A property has another type than its column, and no custom migration stage has replaced it.
  case propertyTypeChanged(entity: String, property: String, stored: String, declared: String)
  /// The store, opened without `allowsSave`, lacks a table or column of the models.
  case schemaNotInStore(entity: String, namespace: String)
  /// Values that a version of the models declares unique are those of several rows.
  case duplicateValues(entity: String, properties: [String], keys: [UInt64])
  /// A property that has to have a value got none in a migration.
  case missingValue(entity: String, property: String, key: UInt64)

  /// An error as the server reported it.
  public struct ServerError: Hashable, Sendable {
    /// The SQLSTATE code: five characters, the first two of which name the class of the error.
    public let state: String
    public let message: String
    public let detail: String?
    public let constraint: String?
  }
}

extension PostgresStoreError.ServerError {
  /// Whether the same transaction may succeed if it is tried again: it lost against another one.
  var isTransient: Bool {
    switch state {
    case SQLState.serializationFailure, SQLState.deadlock: true
    // A partition was made for the row after the server had chosen the default one: only such checks have no name.
    case SQLState.checkViolation: constraint == nil
    default: false
    }
  }

  /// Whether a value is the reason: one that its type cannot have, for instance.
  var isOfData: Bool { state.hasPrefix(SQLState.dataException) }

  /// The same as an error after which the transaction may succeed if it is tried again.
  var asTransient: Self {
    Self(
      state: SQLState.serializationFailure,
      message: message,
      detail: detail,
      constraint: constraint
    )
  }

  /// Whether the server ends the session, or is not ready for one.
  var endsSession: Bool {
    state.hasPrefix("57P") || state.hasPrefix("08") || state == SQLState.idleInTransaction
  }
}

/// The SQLSTATE codes that the store acts on.
enum SQLState {
  static let serializationFailure = "40001"
  static let deadlock = "40P01"
  static let checkViolation = "23514"
  static let uniqueViolation = "23505"
  static let lockNotAvailable = "55P03"
  static let idleInTransaction = "25P03"
  static let queryCanceled = "57014"
  /// The first two characters of the codes of errors in values.
  static let dataException = "22"
}

extension PostgresStoreError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .cannotConnect(let place, let reason):
      "no connection to \(place): \(reason); check that the server runs and that the address, the role and its "
        + "password are right"
    case .connectionLost(let place, let reason):
      "the connection to \(place) was lost: \(reason); nothing of the operation was kept, or its outcome was looked "
        + "up: it can be tried again"
    case .saveUnresolved(let reason):
      "the connection was lost while a save was being committed, and the server could not be asked whether it was, "
        + "within reconnectBudget: \(reason); fetch before you save again, or raise reconnectBudget"
    case .statementTimedOut(let limit):
      "a statement took longer than statementTimeout, \(limit), and was ended; nothing of the operation was kept: look "
        + "for who holds a lock (pg_stat_activity), ask for less, or raise statementTimeout"
    case .server(let error):
      "the server refused a statement (SQLSTATE \(error.state)): \(error.message)"
        + (error.detail.map { "; \($0)" } ?? "")
    case .noFreeConnection(let limit, let waited):
      "all \(limit) connections were in use for \(waited); raise connectionLimit, or save less at once"
    case .unsupportedServer(let version, let minimum):
      "expected PostgreSQL \(minimum) or later, found version number \(version)"
    case .unsupportedEncoding(let encoding):
      "expected a database in UTF8, found \(encoding); create it with ENCODING 'UTF8'"
    case .unusableName(let name, let reason): "'\(name)' cannot name a table or column: \(reason)"
    case .unusableTimeout(let limit):
      "expected a statementTimeout of a millisecond or more, found \(limit); nil means that there is none"
    case .unstorableValue(let entity, let property, let key, let reason):
      "\(entity).\(property) of row \(key) cannot be stored: \(reason)"
    case .unreadableValue(let entity, let property, let key, let reason):
      "\(entity).\(property) of row \(key) cannot be read: \(reason)"
    case .propertyTypeChanged(let entity, let property, let stored, let declared):
      "\(entity).\(property) is stored as \(stored), and the models declare what is stored as \(declared): give the "
        + "property another name, or convert the column with ALTER TABLE"
    case .schemaNotInStore(let entity, let namespace):
      "schema \(namespace) has no table for all properties of \(entity): open the store once with allowsSave: true"
    case .missingValue(let entity, let property, let key):
      "\(entity)/\(key) has no value for \(property), which is not optional and has no default: declare a "
        + "default, or make the stage a custom one that sets \(property) in didMigrate"
    case .duplicateValues(let entity, let properties, let keys):
      "\(keys.map { "\(entity)/\($0)" }.joined(separator: " and ")) have the same "
        + "\(properties.joined(separator: ", ")), which must be unique from this version on: make the stage a "
        + "custom one whose willMigrate changes or deletes one of them"
    }
  }

  public var errorDescription: String? { description }
}
#endif
