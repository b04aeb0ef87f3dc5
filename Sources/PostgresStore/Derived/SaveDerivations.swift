#if PostgreSQL
import ModelRuntime
import RowFormat

/// One save's changes to derived attributes.
///
/// Canonical texts and the lengths of stored lists follow from the row that is written, and the server knows the time.
/// Counts and sums follow from other rows, and two saves may change the same one: the difference is worked out from the
/// changes and from the rows that they replace, which the server locks first, and is added to the value of the owner's
/// row once that row is locked.
struct SaveDerivations {
  private typealias MemberRule = StoreDerivations.MemberRule

  private let plan: StoreDerivations
  private let tables: TableMap
  /// The contributions of new members.
  private var totals = OwnerTotals()
  /// The stored rows that are changed or deleted, and may have been counted for an owner.
  private var members: [RowReference: MemberChange] = [:]
  /// The rows with totals that the save inserts, updates and deletes itself.
  private(set) var insertedOwners: Set<RowReference> = []
  private(set) var updatedOwners: Set<RowReference> = []
  private(set) var deletedOwners: Set<RowReference> = []

  private struct MemberChange {
    var isDeleted = false
    /// The row's new contributions, by the place of the rule.
    var outcomes: [Int: Outcome] = [:]
  }

  private struct Outcome {
    /// The new owner, or that there is none; `nil` if that does not change.
    var owner: RowReference??
    /// The amount that is added up; `nil` if that does not change.
    var amount: DerivedAmount?
  }

  init(_ plan: StoreDerivations, _ tables: TableMap) {
    self.plan = plan
    self.tables = tables
  }

  // MARK: Collecting

  /// Notes that a row is inserted.
  ///
  /// - Returns: The row with its derived attributes, its totals zero; `nil` if it has none.
  mutating func insert(
    _ reference: RowReference,
    _ table: MappedTable,
    _ row: RawSpan
  ) -> [UInt8]? {
    for rule in plan.members[table.number] ?? [] {
      guard let owner = table.target(of: row, rule.reference) else { continue }
      totals.add(DerivedAmount(rule, of: row, table.layout), to: owner, rule)
    }
    guard let own = plan.owners[table.number] else { return nil }
    if !own.totals.isEmpty { insertedOwners.insert(reference) }
    var columns = ColumnSet.all
    var values = own.values(of: row, table.layout, &columns)
    for total in own.totals {
      values.append((total.column, total.arithmetic.isExact ? .integer(0) : .double(0)))
    }
    return compose(values, row, table)
  }

  /// Notes that a row is updated.
  ///
  /// - Parameters:
  ///   - reference: The row's name.
  ///   - table: Its table.
  ///   - changed: The columns that are changed; on return, the columns to be written.
  ///   - row: The new row.
  /// - Returns: The row with its derived attributes; `nil` if it has none.
  mutating func update(
    _ reference: RowReference,
    _ table: MappedTable,
    _ changed: inout ColumnSet,
    _ row: RawSpan
  ) -> [UInt8]? {
    if let rules = plan.members[table.number] {
      recordUpdate(of: reference, table, changed, row, rules)
    }
    guard let own = plan.owners[table.number] else { return nil }
    if !own.totals.isEmpty { updatedOwners.insert(reference) }
    for total in own.totals { changed.remove(total.column) }
    let values = own.values(of: row, table.layout, &changed)
    for column in own.dates { changed.insert(column) }
    return compose(values, row, table)
  }

  /// Notes that a row is deleted.
  mutating func delete(_ reference: RowReference, _ table: MappedTable) {
    if plan.members[table.number] != nil { members[reference, default: .init()].isDeleted = true }
    if plan.owners[table.number]?.totals.isEmpty == false { deletedOwners.insert(reference) }
  }

  private mutating func recordUpdate(
    of reference: RowReference,
    _ table: MappedTable,
    _ changed: ColumnSet,
    _ row: RawSpan,
    _ rules: [MemberRule]
  ) {
    guard rules.contains(where: { $0.isTouched(by: changed) }) else { return }
    var change = members[reference] ?? MemberChange()
    for (place, rule) in rules.enumerated() {
      var outcome = change.outcomes[place] ?? Outcome()
      if changed.contains(rule.reference) {
        outcome.owner = .some(table.target(of: row, rule.reference))
      }
      if let summand = rule.summand, changed.contains(summand) {
        outcome.amount = DerivedAmount(rule, of: row, table.layout)
      }
      change.outcomes[place] = outcome
    }
    members[reference] = change
  }

  private func compose(
    _ values: [(column: Int, value: DerivedColumnValue)],
    _ row: RawSpan,
    _ table: MappedTable
  ) -> [UInt8] {
    var writer = RowWriter(capacity: row.byteCount + 64)
    writer.compose(values, over: row, table.layout)
    return writer.bytes.withUnsafeBytes { Array($0) }
  }

  // MARK: Asking

  /// Asks for the contributions of the members that are changed or deleted, and locks them.
  var questions: [Statement] {
    askedTables.map { table, rows in
      let columns = columns(of: table).map { ", \(table.columns[$0].name.quotedName)" }
      let lock = rows.contains { members[$0]?.isDeleted == true } ? "UPDATE" : "NO KEY UPDATE"
      return Statement(
        "SELECT \(MappedTable.key)\(columns.joined()) FROM \(table.name) "
          + "WHERE \(MappedTable.key) = ANY ($1) ORDER BY 1 FOR \(lock)"
      ) { $0.append(rows.map { Int64(bitPattern: $0.rawValue) }) }
    }
  }

  private var askedTables: [(table: MappedTable, rows: [RowReference])] {
    Dictionary(grouping: members.keys.sorted(), by: \.table).sorted { $0.key < $1.key }
      .compactMap { number, rows in tables.table(numbered: number).map { ($0, rows) } }
  }

  /// The columns that the rules of a table read.
  private func columns(of table: MappedTable) -> [Int] {
    let rules = plan.members[table.number] ?? []
    return Set(rules.flatMap { [$0.reference, $0.summand].compactMap { $0 } }).sorted()
  }

  /// Returns the save's changes to the totals of owners.
  ///
  /// - Parameter answers: Those to ``questions``. Rows that are gone are for the save to refuse.
  /// - Returns: The changes.
  func changes(_ answers: [StatementResult]) -> OwnerTotals {
    var totals = totals
    for ((table, _), answer) in zip(askedTables, answers) {
      let columns = columns(of: table)
      let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0 + 1) })
      let rules = plan.members[table.number] ?? []
      for number in 0..<answer.rowCount {
        let reference = RowReference(rawValue: UInt64(bitPattern: answer.integer(number, 0)))
        guard let change = members[reference] else { continue }
        for (place, rule) in rules.enumerated() {
          let owner = answer.reference(number, places[rule.reference] ?? 0)
          let amount = DerivedAmount(rule, answer, number, places)
          var (newOwner, newAmount): (RowReference?, DerivedAmount) = (nil, amount)
          if !change.isDeleted {
            newOwner = change.outcomes[place]?.owner ?? owner
            newAmount = change.outcomes[place]?.amount ?? amount
          }
          if newOwner == owner && newAmount == amount { continue }
          if let owner { totals.remove(amount, from: owner, rule) }
          if let newOwner { totals.add(newAmount, to: newOwner, rule) }
        }
      }
    }
    return totals
  }
}

extension MappedTable {
  /// The row that a to-one column of a row refers to.
  fileprivate func target(of row: RawSpan, _ column: Int) -> RowReference? {
    layout.isNull(column, in: row) ? nil : layout.reference(column, in: row)
  }
}

extension StatementResult {
  fileprivate func reference(_ row: Int, _ column: Int) -> RowReference? {
    isNull(row, column)
      ? nil : RowReference(rawValue: UInt64(bitPattern: integer(row, column)))
  }
}

extension DerivedAmount {
  /// The contribution of a stored row, from an answer with its columns.
  fileprivate init(
    _ rule: StoreDerivations.MemberRule,
    _ answer: StatementResult,
    _ row: Int,
    _ places: [Int: Int]
  ) {
    self.init()
    guard let summand = rule.summand else {
      integer = 1
      return
    }
    guard let place = places[summand], !answer.isNull(row, place) else { return }
    if rule.arithmetic.isExact {
      integer = rule.arithmetic.integer(answer.integer(row, place))
    } else {
      double = answer.double(row, place)
    }
  }
}
#endif
