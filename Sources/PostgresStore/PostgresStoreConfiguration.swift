#if PostgreSQL
import Foundation
public import ModelRuntime

/// Opens a ``PostgresStore``: where its server is, and which schema of the database is the store's.
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
  /// What a save does with a new model whose unique values another model has.
  public var uniquenessPolicy: UniquenessPolicy
  /// What a save does with an attribute that another save has changed since the context read it.
  ///
  /// To compare, a save locks its rows, which is a round trip more. Of an `.externalStorage` value that is larger than
  /// 2,000 bytes only the length is compared.
  public var mergePolicy = MergePolicy.lastWriter
  /// What opening does with a store that a newer version of the models has written; by default, it throws.
  public var newerStores = NewerStorePolicy.refuse
  /// How many sessions the store may have at once; an operation waits while all are in use.
  ///
  /// Two more are beside them: one for notices, and one for saves that take turns, those that write lists stored with
  /// their owners or both ends of a one-to-one.
  public var connectionLimit = 8
  /// For how long saves stay in the history; without a limit if `nil`, and until `deleteHistory(_:)` is called.
  ///
  /// Stores that save delete what is older, now and then, in the background. Observers that were away for longer have to fetch.
  public var historyAge: Duration?
  /// How many transactions of the server a partition of the history spans, at least and at most.
  var historyPartitionWidth = HistoryPartitions.standardWidth
  /// How many transactions are deleted from the history at once.
  var historySliceSize = HistoryDeletion.standardSliceSize
  /// How long an operation waits for a session, and for a server that was there and has gone away: an hour at most, where the
  /// history may be deleted meanwhile.
  public var reconnectBudget = Duration.seconds(10)
  /// How long the server may work on one statement of a fetch or a save, waits for locks included; `nil`, the default,
  /// leaves it to what the server, the database or the role says.
  ///
  /// What takes longer throws ``PostgresStoreError/statementTimedOut(limit:)``. Making and migrating tables is not limited,
  /// and neither is deleting history.
  public var statementTimeout: Duration?
  /// How long the server waits for the next statement of a save before it undoes what it has of it: a machine that
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
  ///   - uniquenessPolicy: What a save does with a new model whose unique values another model has.
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
