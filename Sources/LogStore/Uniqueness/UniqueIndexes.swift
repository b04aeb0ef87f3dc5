import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Finds, for a save, the rows that have a unique key already.
///
/// Each constraint has one index over the tables it covers, made by one scan the first time a save needs it, and
/// kept in step by every save.
///
/// An index holds an entry for each key a row has, and for each key that a save under way will give to a row: an
/// entry is made before the commit and taken out after it. So it may hold too much, and never too little;
/// the row's own bytes decide. Two saves that want the same key meet at the first one's entry, and the second
/// waits until the first one's commit stands or has failed. Saves of different keys do not wait for each other.
final class UniqueIndexes: @unchecked Sendable {
  /// The keys of a save under way.
  final class Claim {
    fileprivate let changes: KeyChanges
    fileprivate init(_ changes: KeyChanges) { self.changes = changes }
  }

  /// A constraint of a table, by its number.
  struct Rule {
    let number: Int
    let columns: [Int]
  }

  private let constraints: [UniquenessConstraint]
  private let rulesByTable: [UInt16: [Rule]]
  private let condition = NSCondition()
  // By constraint; nil until a save needs it. Guarded by the condition, as is what follows.
  private var indexes: [HashedRows?]
  private var claims: [Claim] = []

  init(_ constraints: [UniquenessConstraint], tables: [EntityTable]) {
    self.constraints = constraints
    indexes = constraints.map { _ in nil }
    var rules: [UInt16: [Rule]] = [:]
    for table in tables {
      for (number, constraint) in constraints.enumerated() where constraint.covers(table.descriptor)
      {
        rules[table.number, default: []].append(Rule(number: number, columns: constraint.columns))
      }
    }
    rulesByTable = rules
  }

  /// The constraints that hold for the rows of a table.
  func rules(of table: UInt16) -> [Rule] { rulesByTable[table] ?? [] }

  /// Claims the keys of a save, before it is committed; ``finish(_:committed:)`` must follow.
  ///
  /// - Throws: `RowClashes` if rows have the keys already, or a storage error; then nothing is claimed.
  func claim(_ changes: KeyChanges, in store: TableStore) throws -> Claim {
    condition.lock()
    defer { condition.unlock() }
    for number in Set(changes.additions.map(\.constraint)) where indexes[number] == nil {
      while !claims.isEmpty { condition.wait() }
      if indexes[number] == nil { indexes[number] = try build(number, from: store) }
    }
    var attempt = ClaimAttempt(changes, store: store, columns: constraints.map(\.columns))
    while try !enter(&attempt) { condition.wait() }
    if !attempt.clashes.isEmpty {
      throw RowClashes(
        attempt.clashes.map {
          RowClash(row: $0.row, holder: $0.holder, constraint: constraints[$0.constraint])
        }
      )
    }
    let claim = Claim(changes)
    claims.append(claim)
    return claim
  }

  /// Ends a claim: the commit stands, and old keys are free; or it failed, and the new ones are.
  func finish(_ claim: Claim, committed: Bool, in store: TableStore) {
    condition.lock()
    claims.removeAll { $0 === claim }
    if committed {
      for removal in claim.changes.removals
      where !isClaimed(removal) && !isCurrent(removal, in: store) {
        indexes[removal.constraint]?.remove(removal.row, removal.hash)
      }
    } else {
      for addition in claim.changes.additions { withdraw(addition) }
    }
    condition.broadcast()
    condition.unlock()
  }

  /// Forgets everything; the next save reads the tables again.
  func removeAll() {
    condition.lock()
    while !claims.isEmpty { condition.wait() }
    indexes = constraints.map { _ in nil }
    condition.unlock()
  }

  // MARK: With the condition locked

  /// Enters the keys of a save.
  ///
  /// - Returns: `false`, and nothing is entered, if another save under way has one of them.
  private func enter(_ attempt: inout ClaimAttempt) throws -> Bool {
    attempt.begin()
    do {
      for (position, addition) in attempt.changes.additions.enumerated() {
        // The rows are taken out of the index first: an index that is held is copied when it grows.
        var holders: [RowReference] = []
        indexes[addition.constraint]?.forEach(addition.hash) {
          holders.append($0)
          return true
        }
        switch try attempt.check(position, holders, isUnderWay: isUnderWay) {
        case .free: indexes[addition.constraint]?.insert(addition.row, addition.hash)
        case .entered, .taken: break
        case .underWay:
          withdraw(attempt.entered)
          return false
        }
        attempt.note(position)
      }
      if !attempt.clashes.isEmpty { withdraw(attempt.entered) }
      return true
    } catch {
      withdraw(attempt.entered)
      throw error
    }
  }

  /// Whether another save is about to change a row's key, so that its stored bytes say nothing yet.
  private func isUnderWay(_ row: RowReference) -> Bool {
    claims.contains { claim in
      claim.changes.additions.contains { $0.row == row }
        || claim.changes.removals.contains { $0.row == row }
    }
  }

  /// Whether a key that a save took from a row is about to be given to it again, by another save.
  private func isClaimed(_ removal: KeyChanges.Removal) -> Bool {
    claims.contains { claim in
      claim.changes.additions.contains {
        $0.row == removal.row && $0.hash == removal.hash && $0.constraint == removal.constraint
      }
    }
  }

  /// Whether a row has a key again that a save took from it: another save gave it back meanwhile.
  private func isCurrent(_ removal: KeyChanges.Removal, in store: TableStore) -> Bool {
    var key: [UInt8] = []
    let columns = constraints[removal.constraint].columns
    // An entry too many costs a look at its row; what cannot be read is reported by whoever needs it.
    let isThere = (try? store.appendKey(of: removal.row, columns, to: &key)) ?? true
    return isThere && ColumnKey.hash(key[...]) == removal.hash
  }

  private func withdraw(_ additions: [KeyChanges.Addition]) {
    for addition in additions { withdraw(addition) }
  }

  private func withdraw(_ addition: KeyChanges.Addition) {
    indexes[addition.constraint]?.remove(addition.row, addition.hash)
  }

  private func build(_ number: Int, from store: TableStore) throws -> HashedRows {
    let constraint = constraints[number]
    let tables = store.tables.filter { constraint.covers($0.descriptor) }
    var index = HashedRows()
    index.reserve(tables.reduce(0) { $0 + store.engine.rowCount(of: $1.number) })
    var key: [UInt8] = []
    for table in tables {
      try store.engine.scan(table.number) { rowKey, layout, row in
        try table.withCurrentRow(row, layout: layout, key: rowKey) { row in
          key.removeAll(keepingCapacity: true)
          guard ColumnKey.append(constraint.columns, of: row, table.layout, to: &key) else {
            return
          }
          index.insert(
            RowReference(table: table.number, key: rowKey),
            ColumnKey.hash(key[...])
          )
        }
        return .proceed
      }
    }
    return index
  }
}
