#if PostgreSQL
import ModelRuntime
import RowFormat

/// One save's changes to the counts and sums of rows.
struct OwnerTotals {
  struct Change {
    var amount = DerivedAmount()
    /// Whether a member leaves a sum that nothing can be subtracted from: it is added up anew.
    var isRecount = false

    var isNothing: Bool { !isRecount && amount == DerivedAmount() }
  }

  private var changes: [RowReference: [StoreDerivations.MemberRule: Change]] = [:]

  mutating func add(
    _ amount: DerivedAmount,
    to owner: RowReference,
    _ rule: StoreDerivations.MemberRule
  ) {
    changes[owner, default: [:]][rule, default: Change()].amount += amount
  }

  mutating func remove(
    _ amount: DerivedAmount,
    from owner: RowReference,
    _ rule: StoreDerivations.MemberRule
  ) {
    changes[owner, default: [:]][rule, default: Change()].amount.integer -= amount.integer
    if !rule.arithmetic.isExact { changes[owner]?[rule]?.isRecount = true }
  }

  /// The updates of owners, by table, and within one by the totals that change.
  ///
  /// - Parameters:
  ///   - plan: The derivations.
  ///   - tables: The tables of the store.
  ///   - deleted: The rows that the save deletes.
  /// - Returns: The updates, in one order for all saves.
  func updates(
    _ plan: StoreDerivations,
    _ tables: TableMap,
    except deleted: Set<RowReference>
  ) -> [TotalsUpdate] {
    var updates: [TotalsUpdate] = []
    for owner in changes.keys.sorted() where !deleted.contains(owner) {
      guard let table = tables.table(numbered: owner.table), let own = plan.owners[table.number],
        let changes = changes[owner]
      else { continue }
      // Classes beside this one may count other members; those totals are none of its own.
      let totals = own.totals.filter { changes[$0.rule]?.isNothing == false }
      if totals.isEmpty { continue }
      let recounted = totals.map { changes[$0.rule]?.isRecount == true }
      let amounts = totals.map { changes[$0.rule]?.amount ?? DerivedAmount() }
      // Owners of one save mostly change alike.
      let place = updates.firstIndex {
        $0.table === table && $0.recounted == recounted
          && $0.totals.elementsEqual(totals) { $0.column == $1.column }
      }
      if let place {
        updates[place].append(owner, amounts)
      } else {
        var update = TotalsUpdate(table, totals, recounted, dates: own.dates, tables)
        update.append(owner, amounts)
        updates.append(update)
      }
    }
    return updates
  }
}

/// An update of the counts and sums of rows of one table, which are locked already.
struct TotalsUpdate {
  let table: MappedTable
  let totals: [StoreDerivations.Total]
  /// Of each total, whether it is added up anew.
  let recounted: [Bool]
  private let dates: [Int]
  private let tables: TableMap
  private(set) var owners: [RowReference] = []
  private var amounts: [ArrayParameter]

  init(
    _ table: MappedTable,
    _ totals: [StoreDerivations.Total],
    _ recounted: [Bool],
    dates: [Int],
    _ tables: TableMap
  ) {
    self.table = table
    self.totals = totals
    self.recounted = recounted
    self.dates = dates
    self.tables = tables
    amounts = totals.map { ArrayParameter($0.arithmetic.isExact ? .text : .double) }
  }

  mutating func append(_ owner: RowReference, _ amounts: [DerivedAmount]) {
    owners.append(owner)
    for (place, total) in totals.enumerated() {
      if total.arithmetic.isExact {
        let digits = "\(amounts[place].integer)"
        self.amounts[place].append(.text) { $0.append(contentsOf: digits.utf8) }
      } else {
        let bits = amounts[place].double.bitPattern
        self.amounts[place].append(.double) { $0.appendBigEndian(bits) }
      }
    }
  }

  /// Locks the rows of updates.
  ///
  /// Every save locks owners in the same order, so that two of them do not wait for each other. Later statements see all
  /// that was committed before, also of the members of a row.
  static func locks(_ updates: [TotalsUpdate]) -> [Statement] {
    Dictionary(grouping: updates, by: \.table.number).sorted { $0.key < $1.key }
      .map { _, updates in
        Statement(
          "SELECT 1 FROM \(updates[0].table.name) WHERE \(MappedTable.key) = ANY ($1) "
            + "ORDER BY \(MappedTable.key) FOR NO KEY UPDATE"
        ) { parameters in
          let owners = updates.flatMap(\.owners).sorted()
          parameters.append(owners.map { Int64(bitPattern: $0.rawValue) })
        }
      }
  }

  /// Updates the rows, and writes that down in the history.
  ///
  /// - Parameters:
  ///   - ordinal: The place of the first change in the history of the save.
  ///   - namespace: The namespace.
  ///   - save: The save, which may insert or update owners itself.
  /// - Returns: A statement that answers with the rows that it has updated, and the sums that do not fit.
  func statement(ordinal: Int, namespace: String, of save: SaveDerivations) -> Statement {
    let history = "\(namespace.quotedName)._logstore_change"
    let names = (totals.map(\.column) + dates).map { table.columns[$0].name }
    let parameter = (names: totals.count + 2, own: totals.count + 3, ordinal: totals.count + 4)
    let news = owners.filter {
      !save.insertedOwners.contains($0) && !save.updatedOwners.contains($0)
    }
    let noted = owners.filter(save.updatedOwners.contains)
    var sql =
      "WITH u AS (\(update)), h AS (INSERT INTO \(history) (row, ordinal, kind, columns) "
      + "SELECT u.k, $\(parameter.ordinal) + row_number() OVER (ORDER BY u.k) - 1, 'update', $\(parameter.names) "
      + "FROM u WHERE u.k = ANY ($\(parameter.own)))"
    if !noted.isEmpty {
      // The save changes other attributes of the row, too: that is one change.
      sql +=
        ", n AS (UPDATE \(history) AS h SET columns = h.columns || $\(parameter.names) FROM u "
        + "WHERE h.xid = pg_current_xact_id()::text::bigint AND h.row = u.k AND h.kind = 'update' "
        + "AND u.k = ANY ($\(parameter.ordinal + 1)))"
    }
    sql += " SELECT u.* FROM u"
    return Statement(sql) { parameters in
      parameters.append(owners.map { Int64(bitPattern: $0.rawValue) })
      for amount in amounts { parameters.append(amount) }
      parameters.append(names)
      parameters.append(news.map { Int64(bitPattern: $0.rawValue) })
      parameters.append(ordinal)
      if !noted.isEmpty { parameters.append(noted.map { Int64(bitPattern: $0.rawValue) }) }
    }
  }

  private var update: String {
    let types = totals.enumerated().map { place, total in
      ", $\(place + 2)::\(total.arithmetic.isExact ? "text[]" : "double precision[]")"
    }
    let sums = totals.indices.map { ", \(sum($0)) AS s\($0)" }
    let assignments =
      totals.enumerated().map { place, total in
        "\(name(total)) = \(SumSQL.stored("s.s\(place)", total.arithmetic, else: "t.\(name(total))"))"
      } + dates.map { "\(table.columns[$0].name.quotedName) = now()" }
    let overflows = totals.enumerated().map { place, total in
      ", \(SumSQL.overflow("s.s\(place)", total.arithmetic))"
    }
    return "UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", ")) "
      + "FROM (SELECT v.k\(sums.joined()) FROM unnest($1::bigint[]\(types.joined())) "
      + "AS v(k\(totals.indices.map { ", d\($0)" }.joined())) "
      // OFFSET 0 has the server compute each sum once.
      + "JOIN \(table.name) AS o ON o.\(MappedTable.key) = v.k OFFSET 0) AS s "
      + "WHERE t.\(MappedTable.key) = s.k RETURNING s.k\(overflows.joined())"
  }

  private func name(_ total: StoreDerivations.Total) -> String {
    table.columns[total.column].name.quotedName
  }

  /// The new value of a total of the row `o`.
  private func sum(_ place: Int) -> String {
    let total = totals[place]
    if recounted[place] {
      return SumSQL.sum(of: total, tables) { "m.\($0) = o.\(MappedTable.key)" }
    }
    if total.arithmetic.isExact {
      return "\(SumSQL.number("o.\(name(total))", total.arithmetic)) + v.d\(place)::numeric"
    }
    return "coalesce(o.\(name(total)), 0) + v.d\(place)"
  }

  /// Reads the answer.
  ///
  /// - Returns: The rows that were updated, but for those that the save inserts or updates itself.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a sum that its attribute cannot hold.
  func updatedRows(_ answer: StatementResult, of save: SaveDerivations) throws -> [RowReference] {
    var rows: [RowReference] = []
    for row in 0..<answer.rowCount {
      for (place, total) in totals.enumerated() {
        guard let digits = answer.optionalText(row, place + 1) else { continue }
        throw SwiftDataError.overflow(
          ofSum: Int128(digits) ?? .max,
          total.property,
          table.descriptor
        )
      }
      let owner = RowReference(rawValue: UInt64(bitPattern: answer.integer(row, 0)))
      if save.insertedOwners.contains(owner) || save.updatedOwners.contains(owner) { continue }
      rows.append(owner)
    }
    return rows
  }
}
#endif
