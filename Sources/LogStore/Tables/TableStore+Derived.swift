import Foundation
import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Computes the derived attributes of all rows, and writes those rows that have others.
  ///
  /// For a store that nothing else writes to: it was just opened, and its models have other derived attributes than before.
  ///
  /// - Throws: ``SwiftDataError`` for a sum that its attribute cannot hold, or what reading and writing throws.
  /// - Complexity: O(rows of the tables that have derived attributes, and of the members' tables).
  func computeDerivedAttributes() throws {
    let view = engine.makeReadView()
    let computation = try DerivedComputation(self, of: view)
    for table in tables {
      var keys: [UInt64] = []
      try computation.visitDifferences(in: table) { key, _ in keys.append(key) }
      for start in stride(from: 0, to: keys.count, by: Self.derivedRowsPerCommit) {
        let end = min(start + Self.derivedRowsPerCommit, keys.count)
        try write(keys[start..<end], of: table, from: computation)
      }
    }
  }

  /// The time, as dates are stored.
  var secondsSinceReferenceDate: Double {
    Double(engine.state.fileSystem.microseconds()) / 1_000_000
      - Date.timeIntervalBetween1970AndReferenceDate
  }

  /// Number of rows that get their derived attributes in one commit.
  private static let derivedRowsPerCommit = 10_000

  private func write(
    _ keys: ArraySlice<UInt64>,
    of table: EntityTable,
    from computation: DerivedComputation
  ) throws {
    var writer = RowWriter()
    try save(author: "derived attributes") { sink in
      (sink as? CommitSink)?.trustDerivedAttributes()
      for key in keys {
        let reference = RowReference(table: table.number, key: key)
        _ = try withRow(at: reference) { row in
          let values = try computation.values(of: row, reference, table, fillingDates: true)
          writer.removeAll()
          writer.compose(values, over: row, table.layout)
          var changed = ColumnSet()
          for (column, _) in values { changed.insert(column) }
          sink.update(reference, changed: changed, row: writer.bytes)
        }
      }
    }
  }

  /// Says which rows have other derived attributes than those computed from all rows.
  ///
  /// Saves may continue: everything is as of one view. Sums of floating point numbers may differ by rounding.
  ///
  /// - Throws: What reading a row throws.
  /// - Complexity: O(rows).
  func derivedViolations() throws -> [String] {
    guard derivations != nil else { return [] }
    let view = engine.makeReadView()
    let computation = try DerivedComputation(self, of: view)
    var violations: [String] = []
    for table in tables {
      try computation.visitDifferences(in: table) { key, column in
        violations.append(
          "\(table.descriptor.entityName)/\(key): \(table.descriptor.columnName(column)) is not what it is derived from, "
            + "as of \(view.sequence)"
        )
      }
    }
    return violations
  }

  /// Traps unless every derived attribute is what it is computed from.
  ///
  /// - Throws: What reading a row throws.
  func checkDerivedAttributes() throws {
    let violations = try derivedViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }
}

/// The derived attributes of all rows as of one view, computed from the rows they are derived from.
struct DerivedComputation {
  private typealias MemberRule = StoreDerivations.MemberRule

  private let store: TableStore
  private let view: ReadView
  private var totals: [UInt16: [RowReference: [MemberRule: DerivedAmount]]] = [:]
  private let now: Double

  init(_ store: TableStore, of view: ReadView) throws {
    self.store = store
    self.view = view
    now = store.secondsSinceReferenceDate
    guard let plan = store.derivations else { return }
    for (number, rules) in plan.members {
      guard let table = store.table(numbered: number) else { continue }
      var totals: [RowReference: [MemberRule: DerivedAmount]] = [:]
      try store.scan(number, of: view) { _, row, layout in
        for rule in rules {
          guard let owner = table.target(of: row, rule.reference) else { continue }
          totals[owner, default: [:]][rule, default: DerivedAmount()] += DerivedAmount(
            rule,
            of: row,
            layout
          )
        }
      }
      self.totals[number] = totals
    }
  }

  /// The values of a row's derived columns, but for dates that are known.
  ///
  /// - Parameters:
  ///   - row: The row, in the table's current layout.
  ///   - reference: Its name.
  ///   - table: Its table.
  ///   - fillingDates: Whether a row without a date gets one, if its attribute must have one.
  /// - Returns: Columns and their values.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a sum that its attribute cannot hold.
  func values(
    of row: RawSpan,
    _ reference: RowReference,
    _ table: EntityTable,
    fillingDates: Bool
  ) throws -> [(column: Int, value: DerivedColumnValue)] {
    guard let own = store.derivations?.owners[table.number] else { return [] }
    var values: [(column: Int, value: DerivedColumnValue)] = []
    for total in own.totals {
      var amount = DerivedAmount()
      // An owner may have members of several classes, and a class members of several owners.
      for number in total.tables {
        if let part = totals[number]?[reference]?[total.rule] { amount += part }
      }
      values.append(
        total.arithmetic.isExact
          ? (total.column, try total.value(amount.integer, table))
          : (total.column, .double(total.arithmetic.rounded(amount.double)))
      )
    }
    for (list, column) in own.lengths {
      let isEmpty = table.layout.isNull(list, in: row)
      let count = isEmpty ? 0 : table.layout.referenceCount(list, in: row)
      values.append((column, .integer(Int64(count))))
    }
    for (text, column) in own.texts {
      values.append((column, .canonical(text, of: row, table.layout)))
    }
    if fillingDates {
      for column in own.dates where lacksDate(column, row, table) {
        values.append((column, .double(now)))
      }
    }
    return values
  }

  /// Visits the rows whose derived columns have other values.
  func visitDifferences(
    in table: EntityTable,
    _ body: (_ key: UInt64, _ column: Int) throws -> Void
  ) throws {
    guard let own = store.derivations?.owners[table.number] else { return }
    try store.scan(table.number, of: view) { key, row, layout in
      let reference = RowReference(table: table.number, key: key)
      let values = try values(of: row, reference, table, fillingDates: false)
      if let (column, _) = values.first(where: { column, value in
        !isSame(value, column, row, table, own)
      }) {
        return try body(key, column)
      }
      if let column = own.dates.first(where: { lacksDate($0, row, table) }) {
        try body(key, column)
      }
    }
  }

  private func isSame(
    _ value: DerivedColumnValue,
    _ column: Int,
    _ row: RawSpan,
    _ table: EntityTable,
    _ own: StoreDerivations.OwnRules
  ) -> Bool {
    if value.isValue(of: column, in: row, table.layout) { return true }
    // Added up in another order, numbers come to another sum.
    guard case .double(let sum) = value, !table.layout.isNull(column, in: row) else { return false }
    let stored = table.layout.double(column, in: row)
    if sum.isNaN && stored.isNaN { return true }
    return abs(sum - stored) <= max(abs(sum), abs(stored)) * 1e-6
  }

  /// Whether a date is missing that must be there: the default of a column that older rows lack says nothing.
  private func lacksDate(_ column: Int, _ row: RawSpan, _ table: EntityTable) -> Bool {
    if table.layout.isNull(column, in: row) {
      return !table.descriptor.properties[column].isOptional
    }
    return !table.descriptor.properties[column].isOptional
      && table.layout.double(column, in: row) == 0
  }
}
