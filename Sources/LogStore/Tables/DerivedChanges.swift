import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Computes the derived attributes of a commit, from the changes that it makes to rows.
///
/// Canonical texts, dates and lengths of stored lists follow from the row that is written. Counts and sums follow from other
/// rows, and two commits may change the same one: so a commit's change to them is worked out, and added to the total that
/// the commit before left, while no other commit does the same. A commit that changes no such row waits for none.
///
/// Used by one save at a time, like its sink.
final class DerivedChanges: @unchecked Sendable {
  private typealias MemberRule = StoreDerivations.MemberRule

  // Not counted: the store outlives its saves.
  @safe private unowned(unsafe) let store: TableStore
  private let plan: StoreDerivations
  /// What is to be done to the totals of owners.
  private var totals: [OwnerTotal: Change] = [:]
  /// The rows of which it is not known yet what they counted for.
  private var members: [MemberChange] = []
  /// The new contributions of the updated members, rule by rule.
  private var outcomes: [Outcome] = []
  /// The rows with totals that the commit inserts or updates itself.
  private var pending: [PendingRow] = []
  private var pendingBytes: [UInt8] = []
  private var deletedOwners: Set<RowReference> = []
  /// The members that are no longer what an index says, for sums that are added up anew.
  private var recounted: Set<RecountedMember> = []
  private var holdsGate = false
  /// The time of the commit; read once.
  private var now: Double?
  /// Whether the rows are written as they come: by code that has computed the derived attributes.
  var isTrusting = false
  /// The rows that the commit changes only because of their derived attributes.
  private(set) var updatedOwners: [RowReference] = []

  private struct OwnerTotal: Hashable {
    let owner: RowReference
    let rule: MemberRule
  }

  private struct Change {
    var amount = DerivedAmount()
    /// Whether a member leaves a sum that nothing can be subtracted from.
    var isRecount = false

    var isNothing: Bool { !isRecount && amount == DerivedAmount() }
  }

  /// A member whose amount the sums of a rule do not take from its row: other sums still do.
  private struct RecountedMember: Hashable {
    let reference: RowReference
    let rule: MemberRule
  }

  private struct MemberChange {
    let reference: RowReference
    /// The place of the row's new contribution; `nil` if the row is deleted.
    let outcome: Int?
  }

  private struct Outcome {
    /// The new owner; `nil` if that does not change.
    var owner: RowReference?
    /// The amount that is added up; `nil` if that does not change.
    var amount: DerivedAmount?
  }

  private struct PendingRow {
    let reference: RowReference
    /// The columns that are changed; `nil` for a new row.
    let changed: ColumnSet?
    let bytes: Range<Int>
  }

  init(_ store: TableStore, _ plan: StoreDerivations) {
    self.store = store
    self.plan = plan
  }

  func begin() {
    totals.removeAll(keepingCapacity: true)
    members.removeAll(keepingCapacity: true)
    outcomes.removeAll(keepingCapacity: true)
    pending.removeAll(keepingCapacity: true)
    pendingBytes.removeAll(keepingCapacity: true)
    deletedOwners.removeAll()
    recounted.removeAll()
    updatedOwners.removeAll()
    now = nil
    isTrusting = false
  }

  /// Whether the commit has changes that are not in its batch yet.
  var isPending: Bool { !pending.isEmpty }

  // MARK: Changes

  /// Adds a new row to the batch, or keeps it until its totals are known.
  func insert(
    _ reference: RowReference,
    _ table: EntityTable,
    _ row: RawSpan,
    into batch: inout CommitBatch
  ) {
    if isTrusting { return batch.insert(reference, layout: table.layoutNumber, row: row) }
    for rule in plan.members[table.number] ?? [] {
      guard let owner = table.target(of: row, rule.reference) else { continue }
      add(DerivedAmount(rule, of: row, table.layout), to: owner, rule)
    }
    guard let own = plan.owners[table.number] else {
      return batch.insert(reference, layout: table.layoutNumber, row: row)
    }
    if !own.totals.isEmpty { return keep(reference, nil, row) }
    var columns = ColumnSet.all
    let values = values(of: row, own, table.layout, &columns)
    let derived = compose(values, row, table.layout)
    unsafe batch.insert(reference, layout: table.layoutNumber, row: derived.span.bytes)
  }

  /// Adds a change of a row to the batch, or keeps it until its totals are known.
  func update(
    _ reference: RowReference,
    _ table: EntityTable,
    _ changed: ColumnSet,
    _ row: RawSpan,
    into batch: inout CommitBatch
  ) {
    if isTrusting {
      return batch.update(reference, in: table, changed: changed, row: row)
    }
    if let rules = plan.members[table.number] {
      recordUpdate(of: reference, table, changed, row, rules)
    }
    guard let own = plan.owners[table.number] else {
      return batch.update(reference, in: table, changed: changed, row: row)
    }
    if !own.totals.isEmpty { return keep(reference, changed, row) }
    var changed = changed
    let values = values(of: row, own, table.layout, &changed)
    let derived = compose(values, row, table.layout)
    unsafe batch.update(
      reference,
      in: table,
      changed: changed,
      row: derived.span.bytes
    )
  }

  /// Notes that a row is deleted.
  func delete(_ reference: RowReference, _ table: EntityTable) {
    if plan.members[table.number] != nil {
      members.append(MemberChange(reference: reference, outcome: nil))
    }
    if plan.owners[table.number]?.totals.isEmpty == false { deletedOwners.insert(reference) }
  }

  private func recordUpdate(
    of reference: RowReference,
    _ table: EntityTable,
    _ changed: ColumnSet,
    _ row: RawSpan,
    _ rules: [MemberRule]
  ) {
    guard rules.contains(where: { $0.isTouched(by: changed) }) else { return }
    members.append(MemberChange(reference: reference, outcome: outcomes.count))
    for rule in rules {
      var outcome = Outcome()
      if changed.contains(rule.reference) {
        outcome.owner = table.target(of: row, rule.reference) ?? RowReference.none
      }
      if let summand = rule.summand, changed.contains(summand) {
        outcome.amount = DerivedAmount(rule, of: row, table.layout)
      }
      outcomes.append(outcome)
    }
  }

  private func keep(_ reference: RowReference, _ changed: ColumnSet?, _ row: RawSpan) {
    let start = pendingBytes.count
    unsafe row.withUnsafeBytes { unsafe pendingBytes.append(contentsOf: $0) }
    let bytes = start..<pendingBytes.count
    pending.append(PendingRow(reference: reference, changed: changed, bytes: bytes))
  }

  private func add(_ amount: DerivedAmount, to owner: RowReference, _ rule: MemberRule) {
    guard plan.counts(rule, in: owner.table) else { return }
    totals[OwnerTotal(owner: owner, rule: rule), default: Change()].amount += amount
  }

  // MARK: Finishing

  /// Puts what was kept, and the rows whose totals change, into the batch.
  ///
  /// Until ``release()``, no other commit changes a total, or what it is computed from.
  ///
  /// - Throws: ``SwiftDataError`` for a sum that its attribute cannot hold, or what reading rows throws.
  func finish(into batch: inout CommitBatch) throws {
    if pending.isEmpty && totals.isEmpty && members.isEmpty && deletedOwners.isEmpty { return }
    if !totals.isEmpty || !members.isEmpty || !deletedOwners.isEmpty {
      store.derivationGate.lock()
      holdsGate = true
    }
    for member in members { try settle(member, batch) }
    for row in pending { try write(row, into: &batch) }
    let kept = Set(pending.map(\.reference))
    let owners = Set(totals.lazy.filter { !$0.value.isNothing }.map(\.key.owner))
    for owner in owners.sorted() where !kept.contains(owner) && !deletedOwners.contains(owner) {
      try updateTotals(of: owner, &batch)
    }
  }

  /// Lets other commits proceed: this one is in its place, or will never be.
  func release() {
    guard holdsGate else { return }
    holdsGate = false
    store.derivationGate.unlock()
  }

  /// Subtracts a row's former contribution from the totals, and adds its new one.
  private func settle(_ member: MemberChange, _ batch: borrowing CommitBatch) throws {
    let reference = member.reference
    guard let table = store.table(numbered: reference.table), let rules = plan.members[table.number]
    else { return }
    // A row that is gone is for the commit to refuse.
    _ = try batch.withNewestRow(reference) { row, layout in
      try table.withCurrentRow(row, layout: layout, key: reference.key) { row in
        for (place, rule) in rules.enumerated() {
          let owner = table.target(of: row, rule.reference)
          let amount = DerivedAmount(rule, of: row, table.layout)
          var newOwner: RowReference?
          var newAmount = amount
          if let first = member.outcome {
            let outcome = outcomes[first + place]
            newOwner = outcome.owner.map { $0 == .none ? nil : $0 } ?? owner
            newAmount = outcome.amount ?? amount
          }
          if newOwner == owner && newAmount == amount { continue }
          if let owner { remove(amount, of: reference, from: owner, rule) }
          if let newOwner { add(newAmount, to: newOwner, rule) }
        }
      }
    }
  }

  private func remove(
    _ amount: DerivedAmount,
    of member: RowReference,
    from owner: RowReference,
    _ rule: MemberRule
  ) {
    guard plan.counts(rule, in: owner.table) else { return }
    let key = OwnerTotal(owner: owner, rule: rule)
    totals[key, default: Change()].amount.integer -= amount.integer
    // Nothing to be taken off, and the others stay as they are: adding them up again is O(members of the owner).
    if rule.arithmetic.isExact || amount.double == 0 { return }
    totals[key]?.isRecount = true
    recounted.insert(RecountedMember(reference: member, rule: rule))
  }

  /// Writes a row that the commit changes anyway.
  private func write(_ row: PendingRow, into batch: inout CommitBatch) throws {
    let reference = row.reference
    guard let table = store.table(numbered: reference.table), let own = plan.owners[table.number]
    else { return }
    let kept = pendingBytes
    let bytes = unsafe kept.span.bytes.extracting(row.bytes)
    var changed = row.changed ?? .all
    var values = values(of: bytes, own, table.layout, &changed)
    for total in own.totals {
      changed.remove(total.column)
      let change = totals[OwnerTotal(owner: reference, rule: total.rule)]
      if row.changed == nil {
        let change = change ?? Change()
        values.append(
          (total.column, try value(of: total, table, reference, DerivedAmount(), change))
        )
      } else if let change, !change.isNothing {
        // A row that is gone is for the commit to refuse.
        let value = try batch.withNewestRow(reference) { newest, layout in
          try table.withCurrentRow(newest, layout: layout, key: reference.key) {
            try self.value(of: total, table, reference, total.amount(in: $0, table), change)
          }
        }
        guard let value else { continue }
        values.append((total.column, value))
        changed.insert(total.column)
      }
    }
    let derived = compose(values, bytes, table.layout)
    if row.changed == nil {
      unsafe batch.insert(reference, layout: table.layoutNumber, row: derived.span.bytes)
    } else if changed != ColumnSet() {
      unsafe batch.update(
        reference,
        in: table,
        changed: changed,
        row: derived.span.bytes
      )
    }
  }

  /// Writes a row that the commit changes only for its totals, if it is still there.
  private func updateTotals(of owner: RowReference, _ batch: inout CommitBatch) throws {
    guard let table = store.table(numbered: owner.table), let own = plan.owners[table.number]
    else { return }
    var changed = ColumnSet()
    let derived = try batch.withNewestRow(owner) { newest, layout in
      try table.withCurrentRow(newest, layout: layout, key: owner.key) { row in
        var values: [(column: Int, value: DerivedColumnValue)] = []
        for total in own.totals {
          guard let change = totals[OwnerTotal(owner: owner, rule: total.rule)],
            !change.isNothing
          else { continue }
          let former = total.amount(in: row, table)
          values.append((total.column, try value(of: total, table, owner, former, change)))
          changed.insert(total.column)
        }
        for column in own.dates {
          values.append((column, .double(time)))
          changed.insert(column)
        }
        return compose(values, row, table.layout)
      }
    }
    guard let derived else { return }
    unsafe batch.update(
      owner,
      in: table,
      changed: changed,
      row: derived.span.bytes
    )
    updatedOwners.append(owner)
  }

  // MARK: Values

  /// The values that follow from a row itself.
  ///
  /// - Parameters:
  ///   - row: The row as it is to be written.
  ///   - own: The derived columns of its table.
  ///   - layout: Its layout.
  ///   - changed: The columns that are changed; those of the values are added, other derived ones are removed.
  /// - Returns: Columns and their values.
  private func values(
    of row: RawSpan,
    _ own: StoreDerivations.OwnRules,
    _ layout: RowLayout,
    _ changed: inout ColumnSet
  ) -> [(column: Int, value: DerivedColumnValue)] {
    var values = own.values(of: row, layout, &changed)
    for column in own.dates {
      values.append((column, .double(time)))
      changed.insert(column)
    }
    return values
  }

  /// A total after a change.
  ///
  /// - Parameters:
  ///   - total: The total.
  ///   - table: The table of the row that has it.
  ///   - owner: That row.
  ///   - former: The total before.
  ///   - change: The change.
  /// - Returns: The total.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if the attribute cannot hold it, or what reading rows throws.
  private func value(
    of total: StoreDerivations.Total,
    _ table: EntityTable,
    _ owner: RowReference,
    _ former: DerivedAmount,
    _ change: Change
  ) throws -> DerivedColumnValue {
    if total.arithmetic.isExact {
      return try total.value(former.integer + change.amount.integer, table)
    }
    let others = change.isRecount ? try sum(total, of: owner) : former.double
    return .double(total.arithmetic.rounded(others + change.amount.double))
  }

  /// Adds up what the members of an owner have that this commit does not change.
  ///
  /// - Complexity: O(members of the owner).
  private func sum(_ total: StoreDerivations.Total, of owner: RowReference) throws -> Double {
    // An index knows commits that are visible. The gate keeps away what else could change a member.
    try store.engine.makeAppendedVisible()
    var sum = 0.0
    let rule = total.rule
    guard let summand = rule.summand else { return sum }
    for number in total.tables {
      guard let table = store.table(numbered: number) else { continue }
      for member in try store.rows(referringTo: owner, inTable: number, column: rule.reference)
      where !recounted.contains(RecountedMember(reference: member.reference, rule: rule)) {
        _ = try store.withRow(at: member.reference) { row in
          if !table.layout.isNull(summand, in: row) { sum += table.layout.double(summand, in: row) }
        }
      }
    }
    return sum
  }

  /// The time of the commit, in seconds since the reference date.
  private var time: Double {
    if let now { return now }
    let time = store.secondsSinceReferenceDate
    now = time
    return time
  }

  /// A row with other values in some columns.
  private func compose(
    _ values: [(column: Int, value: DerivedColumnValue)],
    _ row: RawSpan,
    _ layout: RowLayout
  ) -> [UInt8] {
    var writer = RowWriter(capacity: row.byteCount + 64)
    writer.compose(values, over: row, layout)
    return unsafe writer.bytes.withUnsafeBytes { unsafe Array($0) }
  }
}

extension StoreDerivations.Total {
  /// The total that a row has.
  fileprivate func amount(in row: RawSpan, _ table: EntityTable) -> DerivedAmount {
    var amount = DerivedAmount()
    if table.layout.isNull(column, in: row) { return amount }
    if arithmetic.isExact {
      amount.integer = arithmetic.integer(table.layout.integer(column, in: row))
    } else {
      amount.double = table.layout.double(column, in: row)
    }
    return amount
  }

  /// - Throws: ``SwiftDataError/modelValidationFailure`` if the attribute cannot hold the sum.
  func value(_ sum: Int128, _ table: EntityTable) throws -> DerivedColumnValue {
    guard let stored = arithmetic.stored(sum) else {
      throw SwiftDataError.overflow(ofSum: sum, property, table.descriptor)
    }
    return .integer(stored)
  }
}
