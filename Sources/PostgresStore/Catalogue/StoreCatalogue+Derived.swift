#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

// The metadata records the columns that hold derived attributes, their sources, and the version of the models that
// computed them. A record is void once other models have written the store: a program that derives nothing leaves
// the record alone, but does write down its version. Attributes without a valid record are computed at the next opening.

extension StoreCatalogue {
  private static let derivedKey = "derived"

  /// Computes the derived attributes that the rows do not have yet, or have from something else.
  ///
  /// No other session writes the tables meanwhile.
  ///
  /// - Parameters:
  ///   - tables: The tables, which are those of the models by now.
  ///   - writer: The version of the models that opened the namespace last before these.
  ///   - allowsSave: Whether the store may be written to.
  /// - Throws: ``PostgresStoreError``; or `SwiftDataError`, for a sum that its attribute cannot hold, or if there are any
  ///   and the store is only read.
  mutating func bringDerivedAttributes(
    of tables: TableMap,
    writtenBy writer: String?,
    allowsSave: Bool
  ) throws {
    guard let plan = tables.derivations else { return }
    let version = metadata["schema.version"] ?? ""
    let records = records(plan, tables)
    let text = ([version] + records).joined(separator: "\n")
    if writer == version, metadata[StoreCatalogue.derivedKey] == text { return }
    guard allowsSave else { return try refuseRows(plan, tables) }
    let written = plan.owners.keys.sorted().compactMap(tables.table(numbered:))
    let read = plan.members.keys.sorted().compactMap(tables.table(numbered:))
    let names = Set((written + read).map(\.name)).sorted().joined(separator: ", ")
    try change("LOCK TABLE \(names) IN SHARE ROW EXCLUSIVE MODE")
    try compute(plan, tables, .refused)
    try set(StoreCatalogue.derivedKey, text)
  }

  /// Computes the derived attributes in the middle of a migration, for the code of a stage; the opening computes them again in
  /// the end, by the newest models.
  ///
  /// - Throws: ``PostgresStoreError``.
  /// - Complexity: O(rows); only those are written that change.
  func computeDerivedAttributes(of tables: TableMap) throws {
    if let plan = tables.derivations { try compute(plan, tables, .left) }
  }

  /// The action for a sum that its attribute cannot hold.
  private enum Overflow {
    case refused
    /// The attribute stays as it is: the code of a stage may be about to change what is added up.
    case left
  }

  private func compute(
    _ plan: StoreDerivations,
    _ tables: TableMap,
    _ overflow: Overflow
  ) throws {
    for table in plan.owners.keys.sorted().compactMap(tables.table(numbered:)) {
      guard let own = plan.owners[table.number] else { continue }
      try computeTotals(own.totals, of: table, tables, overflow)
      try computeLengths(own.lengths, of: table)
      for (text, column) in own.texts { try fold(text, into: column, of: table) }
      try fillDates(own.dates, of: table)
    }
  }

  /// A line for each derived column, with the columns that it is computed from.
  private func records(_ plan: StoreDerivations, _ tables: TableMap) -> [String] {
    plan.owners.sorted { $0.key < $1.key }.flatMap { number, own -> [String] in
      guard let table = tables.table(numbered: number) else { return [] }
      func name(_ column: Int) -> String {
        "\(table.name).\(table.columns[column].name.quotedName)"
      }
      let totals = own.totals.map { total in
        let members = total.tables.compactMap { number -> String? in
          guard let member = tables.table(numbered: number) else { return nil }
          let read = [total.rule.reference, total.rule.summand].compactMap { $0 }
          return member.name
            + read.map { ".\(member.columns[$0].name.quotedName)" }.joined()
        }
        let word = table.descriptor.maySharePosition(of: total.property) ? "own total" : "total"
        return "\(name(total.column)) \(word) \(members.joined(separator: " ")) \(total.arithmetic)"
      }
      return totals
        + own.lengths.map { "\(name($0.column)) length \(name($0.list))" }
        + own.texts.map { "\(name($0.column)) canonical \(name($0.text))" }
        + own.dates.map { "\(name($0)) date" }
    }
  }

  private func refuseRows(_ plan: StoreDerivations, _ tables: TableMap) throws {
    for table in plan.owners.keys.sorted().compactMap(tables.table(numbered:)) {
      let rows = try connection.run([Statement("SELECT 1 FROM \(table.name) LIMIT 1")])[0].rowCount
      guard rows > 0,
        let property = table.descriptor.derivedAttributes.first?.property
      else { continue }
      throw SwiftDataError.migrationUnavailable.explained(
        "schema \(namespace) has rows for which the derived attribute \(table.descriptor.entityName).\(property.name) "
          + "has not been computed, and was opened read-only: open it once with allowsSave: true",
        entity: table.descriptor.entityName,
        property: property.name
      )
    }
  }

  private func computeTotals(
    _ totals: [StoreDerivations.Total],
    of table: MappedTable,
    _ tables: TableMap,
    _ overflow: Overflow
  ) throws {
    if totals.isEmpty { return }
    func name(_ total: StoreDerivations.Total) -> String {
      table.columns[total.column].name.quotedName
    }
    let sums = totals.enumerated().map { place, total in
      ", \(SumSQL.sum(of: total, tables) { "m.\($0) = o.\(MappedTable.key)" }) AS s\(place)"
    }
    // OFFSET 0 has the server compute each sum once.
    let source =
      "(SELECT o.\(MappedTable.key) AS k\(sums.joined()) FROM \(table.name) AS o OFFSET 0) AS s"
    let overflows = totals.enumerated().map { SumSQL.overflow("s.s\($0)", $1.arithmetic) }
    let assignments = totals.enumerated().map { place, total in
      "\(name(total)) = \(SumSQL.stored("s.s\(place)", total.arithmetic, else: "t.\(name(total))"))"
    }
    let differences = totals.enumerated().map { place, total in
      "t.\(name(total)) IS DISTINCT FROM "
        + SumSQL.stored("s.s\(place)", total.arithmetic, else: "NULL")
        + " OR \(overflows[place]) IS NOT NULL"
    }
    // A sum that does not fit is in the answer.
    let answer = try connection.run([
      Statement(
        "WITH u AS (UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", ")) FROM \(source) "
          + "WHERE t.\(MappedTable.key) = s.k AND (\(differences.joined(separator: " OR "))) "
          + "RETURNING ARRAY[\(overflows.joined(separator: ", "))] AS o) "
          + "SELECT \(totals.indices.map { "min(o[\($0 + 1)])" }.joined(separator: ", ")) FROM u"
      )
    ])[0]
    if overflow == .left { return }
    for (place, total) in totals.enumerated() {
      guard let digits = answer.optionalText(0, place) else { continue }
      throw SwiftDataError.overflow(
        ofSum: Int128(digits) ?? .max,
        total.property,
        table.descriptor
      )
    }
  }

  private func computeLengths(_ lengths: [(list: Int, column: Int)], of table: MappedTable) throws {
    for (list, column) in lengths {
      let length = "coalesce(cardinality(\(table.columns[list].name.quotedName)), 0)"
      let name = table.columns[column].name.quotedName
      _ = try connection.run([
        Statement(
          "UPDATE \(table.name) SET \(name) = \(length) WHERE \(name) IS DISTINCT FROM \(length)"
        )
      ])
    }
  }

  /// Rows that have no date get the time of the opening, if their attribute must have one.
  private func fillDates(_ dates: [Int], of table: MappedTable) throws {
    for column in dates where !table.descriptor.properties[column].isOptional {
      let name = table.columns[column].name.quotedName
      // The default of a column that older rows lack says nothing.
      _ = try connection.run([
        Statement(
          "UPDATE \(table.name) SET \(name) = now() "
            + "WHERE \(name) IS NULL OR \(name) = '2001-01-01 00:00:00+00'"
        )
      ])
    }
  }

  /// Number of texts that are folded at once.
  private static let textPage = 10_000

  /// Computes canonical texts: SQL folds otherwise.
  private func fold(_ text: Int, into column: Int, of table: MappedTable) throws {
    let (source, target) = (
      table.columns[text].name.quotedName, table.columns[column].name.quotedName
    )
    var last = Int64.min
    while true {
      let page = Statement(
        "SELECT \(MappedTable.key), \(source), \(target) FROM \(table.name) "
          + "WHERE \(MappedTable.key) > $1 ORDER BY 1 LIMIT \(StoreCatalogue.textPage)"
      ) { $0.append(last) }
      let rows = try connection.run([page])[0]
      if rows.rowCount == 0 { return }
      last = rows.integer(rows.rowCount - 1, 0)
      var keys: [Int64] = []
      var texts = ArrayParameter(.text)
      for row in 0..<rows.rowCount {
        let folded = rows.optionalText(row, 1).map(Schema.Derivation.canonicalText(of:))
        // By their bytes: a text that is equal only canonically would be found by no index.
        if folded.map({ Array($0.utf8) }) == rows.optionalText(row, 2).map({ Array($0.utf8) }) {
          continue
        }
        keys.append(rows.integer(row, 0))
        if let folded {
          texts.append(.text) { $0.append(contentsOf: folded.utf8) }
        } else {
          texts.appendNull()
        }
      }
      if keys.isEmpty { continue }
      _ = try connection.run([
        Statement(
          "UPDATE \(table.name) AS t SET \(target) = v.c FROM unnest($1::bigint[], $2::text[]) AS v(k, c) "
            + "WHERE t.\(MappedTable.key) = v.k"
        ) {
          $0.append(keys)
          $0.append(texts)
        }
      ])
    }
  }
}
#endif
