#if PostgreSQL
import Foundation
public import ModelRuntime

/// Opens a ``PostgresStore``: names its server, and the schema of the database that is the store's.
///
///     let container = try ModelContainer(
///       for: Trip.self,
///       configurations: PostgresStoreConfiguration(
///         url: "postgresql://app@db.example.com/trips", namespace: "trips"))
///
/// The address goes to libpq as it is: options such as `sslmode=verify-full` belong in it, and passwords come from it,
/// `PGPASSWORD` or a password file. It is never printed.
public struct PostgresStoreConfiguration: UniquenessConfiguring, MergePolicyConfiguring, Sendable {
  public typealias Store = PostgresStore

  public let name: String
  public var schema: Schema?
  /// The address of the database, as a URI or as a list of `keyword=value`.
  public let url: String
  /// The schema of the database in which the store has its tables; it is made if it does not exist.
  public let namespace: String
  /// Whether the store may be written to.
  public let allowsSave: Bool
  /// The action of a save for a new model whose unique values another model has.
  public var uniquenessPolicy: UniquenessPolicy
  /// The action of a save for an attribute that another save has changed since the context read it.
  ///
  /// To compare, a save locks its rows, which is a round trip more. Of an `.externalStorage` value that is larger than
  /// 2,000 bytes only the length is compared.
  public var mergePolicy = MergePolicy.lastWriter
  /// The action of an opening for a store that a newer version of the models has written; by default, it throws.
  public var newerStores = NewerStorePolicy.refuse
  /// Limit of the number of sessions that the store has at once; an operation waits while all are in use.
  ///
  /// Two more are beside them: one for notices, and one for saves that take turns: saves of lists stored with
  /// their owners, or of both ends of a one-to-one.
  public var connectionLimit = 8
  /// The age up to which saves stay in the history, unless `deleteHistory(_:)` deletes them; without a limit if `nil`.
  ///
  /// Stores that save delete older saves now and then, in the background. Observers that were away for longer have to fetch.
  public var historyAge: Duration?
  /// Limits of the number of the server's transactions that a partition of the history spans.
  var historyPartitionWidth = HistoryPartitions.standardWidth
  /// Number of transactions that are deleted from the history at once.
  var historySliceSize = HistoryDeletion.standardSliceSize
  /// The longest wait of an operation for a session, and for a server that was there and has gone away: an hour at most, since
  /// the history may be deleted meanwhile.
  public var reconnectBudget = Duration.seconds(10)
  /// Limit of the server's work on one statement of a fetch or a save, including waits for locks; `nil`, the default,
  /// leaves the limit to the settings of the server, the database or the role.
  ///
  /// A longer statement throws ``PostgresStoreError/statementTimedOut(limit:)``. Making and migrating tables is not limited,
  /// and neither is deleting history.
  public var statementTimeout: Duration?
  /// The server's longest wait for the next statement of a save before it undoes what it has of the save: a machine that
  /// vanished, or a process that was stopped, does not keep others waiting for its locks.
  var idleLimit = Duration.seconds(30)

  /// Describes a store on a server.
  ///
  /// - Parameters:
  ///   - name: A name by which the container tells its stores apart; by default the namespace.
  ///   - schema: The models the store keeps; by default the container's.
  ///   - url: The address of the database.
  ///   - namespace: The schema of the database in which the store has its tables.
  ///   - allowsSave: Whether the store may be written to.
  ///   - uniquenessPolicy: The action of a save for a new model whose unique values another model has.
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    url: String,
    namespace: String,
    allowsSave: Bool = true,
    uniquenessPolicy: UniquenessPolicy = .upsert
  ) {
    self.name = name ?? namespace
    self.schema = schema
    self.url = url
    self.namespace = namespace
    self.allowsSave = allowsSave
    self.uniquenessPolicy = uniquenessPolicy
  }

  /// Checks the namespace and the limits.
  ///
  /// - Throws: ``PostgresStoreError/unusableName(_:reason:)``, or
  ///   ``PostgresStoreError/unusableTimeout(_:)``.
  public func validate() throws {
    if let statementTimeout, statementTimeout < .milliseconds(1) {
      throw PostgresStoreError.unusableTimeout(statementTimeout)
    }
    if namespace.isEmpty {
      throw PostgresStoreError.unusableName(namespace, reason: "a schema has a name")
    }
    if namespace.utf8.count > 63 || namespace.hasPrefix("pg_") {
      throw PostgresStoreError.unusableName(
        namespace,
        reason: "names of schemas have up to 63 bytes and do not begin with pg_"
      )
    }
  }

  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.name == rhs.name && lhs.url == rhs.url && lhs.namespace == rhs.namespace
      && lhs.allowsSave == rhs.allowsSave && lhs.uniquenessPolicy == rhs.uniquenessPolicy
      && lhs.newerStores == rhs.newerStores && lhs.connectionLimit == rhs.connectionLimit
      && lhs.reconnectBudget == rhs.reconnectBudget && lhs.historyAge == rhs.historyAge
      && lhs.statementTimeout == rhs.statementTimeout && lhs.idleLimit == rhs.idleLimit
      && lhs.schema == rhs.schema
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(namespace)
  }
}

extension HistoryPartitions {
  /// The partitions of the history of a store.
  init(_ configuration: PostgresStoreConfiguration) {
    self.init(
      namespace: configuration.namespace,
      width: configuration.historyPartitionWidth
    )
  }
}

extension HistoryDeletion {
  /// Deletes from the history of a store.
  init(_ configuration: PostgresStoreConfiguration) {
    self.init(HistoryPartitions(configuration), sliceSize: configuration.historySliceSize)
  }
}

extension PostgresStoreConfiguration: CustomStringConvertible, CustomReflectable {
  /// The name and the namespace; the address may hold a password.
  public var description: String { "PostgresStoreConfiguration(\(name), namespace: \(namespace))" }

  public var customMirror: Mirror {
    Mirror(self, children: ["name": name, "namespace": namespace], displayStyle: .struct)
  }
}
#endif
