#if PostgreSQL
import Foundation

/// The partitions of the table of changes, each with the changes of a range of transactions.
///
/// A history that is deleted then gives back its space at once, and no row of it is visited. Partitions are made ahead, by
/// whatever store is opened or saves; changes of a transaction in no range are in the default partition, so that no save
/// needs one. Commits are not partitioned: a save is known by its name, which has to be unique among all of them, and an
/// index over partitions ensures that for names of one partition only.
struct HistoryPartitions {
  let namespace: String
  /// Limits of the number of the server's transactions that a partition spans.
  let width: ClosedRange<Int64>

  /// A partition with its bounds, which its name says.
  struct Partition {
    let name: String
    let lower: Int64
    let upper: Int64

    /// Reads the bounds from a name; `nil` for one that is not of a partition with bounds.
    init?(_ name: String) {
      let parts = name.split(separator: "_").suffix(2).compactMap { Int64($0) }
      guard name.hasPrefix(HistoryPartitions.parent), parts.count == 2, parts[0] < parts[1] else {
        return nil
      }
      self.name = name
      (lower, upper) = (parts[0], parts[1])
    }

    init(_ range: Range<Int64>) {
      name = "\(HistoryPartitions.parent)_\(range.lowerBound)_\(range.upperBound)"
      (lower, upper) = (range.lowerBound, range.upperBound)
    }
  }

  static let parent = "_logstore_change"
  static let standardWidth: ClosedRange<Int64> = (1 << 16)...(1 << 40)
  /// The width of a first partition, before anything tells how long one lasts.
  private static let firstWidth: Int64 = 1 << 20

  init(namespace: String, width: ClosedRange<Int64> = HistoryPartitions.standardWidth) {
    self.namespace = namespace
    self.width = width
  }

  private func name(_ table: String) -> String {
    "\(namespace.quotedName).\(table.quotedName)"
  }

  private static let nextTransaction = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
  private static let oldestTransaction = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
}

// MARK: Making

extension HistoryPartitions {
  /// The statement that makes the table of changes, without partitions.
  private var table: Statement {
    Statement(
      "CREATE TABLE \(name(HistoryPartitions.parent)) (xid bigint NOT NULL "
        + "DEFAULT pg_current_xact_id()::text::bigint, ordinal integer NOT NULL, row bigint NOT NULL, "
        + "kind text NOT NULL, columns text[], preserved jsonb, PRIMARY KEY (xid, ordinal)) "
        + "PARTITION BY RANGE (xid)"
    )
  }

  /// A default tablespace that is named, though it is the one that there would be, is refused for tables with partitions.
  private static let plainTablespace = Statement(
    "SELECT set_config('default_tablespace', '', true) "
      + "WHERE current_setting('default_tablespace') = 'pg_default'"
  )

  private func firstPartition(from lower: Int64, next: Int64) -> Partition {
    let width = min(max(HistoryPartitions.firstWidth, width.lowerBound), width.upperBound)
    return Partition(lower..<(next + width))
  }

  private func creation(of partition: Partition) -> Statement {
    Statement(
      "CREATE TABLE \(name(partition.name)) PARTITION OF \(name(HistoryPartitions.parent)) "
        + "FOR VALUES FROM (\(partition.lower)) TO (\(partition.upper))"
    )
  }

  private func firstPartitions(from lower: Int64, next: Int64) -> [Statement] {
    let (parent, rest) = (name(HistoryPartitions.parent), name(HistoryPartitions.parent + "_rest"))
    return [
      Statement("CREATE TABLE \(rest) PARTITION OF \(parent) DEFAULT"),
      creation(of: firstPartition(from: lower, next: next)),
    ]
  }

  /// The statement that tells whether the session's role may make and drop partitions.
  private var rights: Statement {
    Statement(
      "SELECT pg_has_role(relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE') "
        + "FROM pg_class WHERE oid = to_regclass($1)"
    ) { $0.append(name(HistoryPartitions.parent)) }
  }

  private func next(_ connection: Connection) throws -> Int64 {
    try connection.runUncounted([Statement("SELECT \(HistoryPartitions.nextTransaction)")])[0]
      .integer(0, 0)
  }

  /// Makes the table of changes, with its first partition.
  func create(_ connection: Connection) throws {
    _ = try connection.runUncounted(
      [HistoryPartitions.plainTablespace, table]
        + firstPartitions(from: 0, next: try next(connection))
    )
  }

  /// Makes a table of changes that has no partitions the first partition of one that has, within a transaction.
  ///
  /// - Returns: `false`, and nothing has changed, if the session's role does not own the table, or may not make one.
  /// - Throws: ``PostgresStoreError``.
  /// - Complexity: The changes are read once, to see that they belong there; saves of other processes wait.
  func divide(_ connection: Connection) throws -> Bool {
    let parent = name(HistoryPartitions.parent)
    guard try connection.runUncounted([rights])[0].bool(0, 0) else { return false }
    // The new table needs the privileges of the old one.
    let grants = try connection.runUncounted([
      Statement(
        "SELECT 'GRANT ' || a.privilege_type || ' ON ' || $1 || ' TO ' || CASE a.grantee WHEN 0 THEN 'PUBLIC' "
          + "ELSE quote_ident(pg_get_userbyid(a.grantee)) END FROM pg_class c, aclexplode(c.relacl) a "
          + "WHERE c.oid = to_regclass($1) AND a.grantee <> c.relowner"
      ) { $0.append(parent) },
      Statement("LOCK TABLE \(parent) IN ACCESS EXCLUSIVE MODE"),
    ])[0]
    // Every save that has written changes has ended; those that have not yet will find the new table.
    let next = try next(connection)
    let old = Partition(0..<next)
    let statements =
      [
        Statement("ALTER TABLE \(parent) RENAME TO \(old.name.quotedName)"),
        Statement(
          "ALTER INDEX \(name(HistoryPartitions.parent + "_pkey")) RENAME TO \((old.name + "_pkey").quotedName)"
        ),
        HistoryPartitions.plainTablespace, table,
      ] + (0..<grants.rowCount).map { Statement(grants.text($0, 0)) }
      + [
        Statement(
          "ALTER TABLE \(parent) ATTACH PARTITION \(name(old.name)) FOR VALUES FROM (0) TO (\(next))"
        )
      ] + firstPartitions(from: next, next: next)
    _ = try connection.runUncounted(statements)
    return true
  }
}

// MARK: Keeping ahead

extension HistoryPartitions {
  /// The statement that lists the partitions that the session's role owns: others it can neither drop nor add to.
  var list: Statement {
    Statement(
      "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
        + "WHERE i.inhparent = to_regclass($1) AND pg_has_role(c.relowner, 'USAGE')"
    ) { $0.append(name(HistoryPartitions.parent)) }
  }

  func partitions(_ result: StatementResult) -> [Partition] {
    (0..<result.rowCount).compactMap { Partition(result.text($0, 0)) }
      .sorted { $0.lower < $1.lower }
  }

  /// Does its work in a transaction that waits for no lock longer than a moment: others would wait behind it.
  private func briefly<R>(
    _ connection: Connection,
    _ body: (Connection) throws -> R
  ) throws -> R {
    do {
      _ = try connection.runUncounted([.begin, Statement("SET LOCAL lock_timeout = '500ms'")])
      let result = try body(connection)
      _ = try connection.runUncounted([.commit])
      return result
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Makes the next partition, if the last one has begun to fill.
  ///
  /// - Returns: The number of the transaction from which on it is to be called again.
  /// - Throws: ``PostgresStoreError``, also if the session's role may not do it or a lock could not be had; nothing
  ///   depends on it.
  func keepAhead(_ connection: Connection) throws -> Int64 {
    try briefly(connection) { connection in
      let lock = Statement(
        "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)), \(HistoryPartitions.nextTransaction)"
      ) { $0.append("logstore partitions \(namespace)") }
      let results = try connection.runUncounted([lock, list])
      let next = results[0].integer(0, 1)
      guard results[0].bool(0, 0) else { return next + width.lowerBound }
      // None, if all that were there have ended and were dropped.
      let last = partitions(results[1]).last
      if let last {
        let middle = last.lower + (last.upper - last.lower) / 2
        if next < middle { return middle }
      }
      let width = try nextWidth(after: last, next, connection)
      // Changes under way belong to the default partition if no partition was made in time.
      let start = if let last, last.upper > next { last.upper } else { next + width / 16 }
      let partition = Partition(start..<(start + width))
      let parent = name(HistoryPartitions.parent)
      // Attached, and not made as a partition: saves continue meanwhile.
      _ = try connection.runUncounted([
        Statement("CREATE TABLE \(name(partition.name)) (LIKE \(parent) INCLUDING ALL)"),
        Statement(
          "ALTER TABLE \(parent) ATTACH PARTITION \(name(partition.name)) "
            + "FOR VALUES FROM (\(partition.lower)) TO (\(partition.upper))"
        ),
      ])
      return start + width / 2
    }
  }

  /// The transactions of about a day, as the server has had them since the last partition began.
  private func nextWidth(
    after last: Partition?,
    _ next: Int64,
    _ connection: Connection
  ) throws -> Int64 {
    let statement = Statement(
      "SELECT xid, (1000 * EXTRACT(EPOCH FROM clock_timestamp() - at))::bigint "
        + "FROM \(name("_logstore_commit")) WHERE xid >= $1 ORDER BY xid LIMIT 1"
    ) { $0.append(last?.lower ?? 0) }
    let first = try connection.runUncounted([statement])[0]
    guard first.rowCount == 1 else { return width.lowerBound }
    let milliseconds = Double(max(first.integer(0, 1), 1))
    let perDay = Double(next - first.integer(0, 0)) * 86_400_000 / milliseconds
    // Not many times the last width: a burst of a minute would make a partition that lasts for years.
    let lastWidth = last.map { $0.upper - $0.lower } ?? HistoryPartitions.firstWidth
    let wanted = min(perDay, 4 * Double(lastWidth))
    return Int64(min(max(wanted, Double(width.lowerBound)), Double(width.upperBound)))
  }
}

// MARK: Removing

extension HistoryPartitions {
  /// The partitions whose transactions have all ended, and none of which is part of the history, except for those that are
  /// about to be deleted from it.
  ///
  /// Others may delete some of the latter meanwhile, and remaining transactions are then taken for them: changes that no
  /// reader finds may stay until the partition is dropped.
  func unneeded(
    _ connection: Connection,
    without numbers: [Int64] = []
  ) throws -> [Partition] {
    let results = try connection.runUncounted([
      list, Statement("SELECT \(HistoryPartitions.oldestTransaction)"),
    ])
    let oldest = results[1].integer(0, 0)
    let ended = partitions(results[0]).filter { $0.upper <= oldest }
    if ended.isEmpty { return [] }
    let found = try connection.runUncounted(
      ended.map { partition in
        let count = numbers.count { $0 >= partition.lower && $0 < partition.upper }
        return Statement(
          "SELECT EXISTS (SELECT 1 FROM \(name("_logstore_commit")) WHERE xid >= $1 AND xid < $2 "
            + "OFFSET $3)"
        ) {
          $0.append(partition.lower)
          $0.append(partition.upper)
          $0.append(count)
        }
      }
    )
    return zip(ended, found).filter { !$1.bool(0, 0) }.map(\.0)
  }

  /// Drops the partitions of transactions that this server has not come to, within a transaction that has deleted all changes,
  /// and makes one for those that come next if none is left for them.
  ///
  /// Another server made them. While they are there, no store makes partitions before them, and the changes of this server's
  /// transactions are in the default one. A role that does not own the table leaves that to one that does.
  ///
  /// - Throws: ``PostgresStoreError``.
  func dropForeign(_ connection: Connection) throws {
    let results = try connection.runUncounted([rights, list])
    guard results[0].bool(0, 0) else { return }
    let next = try next(connection)
    let all = partitions(results[1])
    let foreign = all.filter { $0.lower >= next }
    if foreign.isEmpty { return }
    _ = try connection.runUncounted(
      foreign.map { Statement("DROP TABLE \(name($0.name))") }
    )
    if all.contains(where: { $0.lower < next && $0.upper > next }) { return }
    _ = try connection.runUncounted([
      HistoryPartitions.plainTablespace, creation(of: firstPartition(from: next, next: next)),
    ])
  }

  /// Removes partitions that are not needed; those that others have locked are left for the next time.
  func sweep(_ connection: Connection) throws {
    for partition in try unneeded(connection) {
      try briefly(connection) {
        _ = try $0.runUncounted([Statement("DROP TABLE IF EXISTS \(name(partition.name))")])
      }
    }
  }
}
#endif
