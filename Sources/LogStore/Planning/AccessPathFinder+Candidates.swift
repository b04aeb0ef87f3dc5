import LogEngine
import ModelRuntime
import RowFormat

// Rows that can match, counted in indexes: those that refer to others, and those of several alternatives.

extension AccessPathFinder {
  /// Rows that can match, which have been counted and not yet named.
  struct Candidates {
    /// Number of the rows; one that is named in several ways is counted so often.
    let count: Int
    /// The greatest count with which no scan of the table is better.
    let limit: Int
    /// Whether these rows match, and no others.
    var isExact = false
    /// Whether each row is counted once.
    var isCountExact = true
    let path: QueryPlan.TableAccess.Path
    /// Names the rows: their keys, ascending.
    let keys: () throws -> [UInt64]
  }

  /// Counts the rows that can match by a plan.
  ///
  /// - Returns: `nil` if the plan names no rows, or so many that these are not worth counting.
  /// - Throws: What reading throws: an index may be made.
  func candidates(of plan: CandidatePlan, _ rowCount: Int) throws -> Candidates? {
    guard rowCount > ScanMethod.smallTable else { return nil }
    switch plan {
    case .joining(.target(let target), _, let isComplete):
      return try candidates(referringTo: target, isComplete: isComplete, rowCount)
    case .either(let plans, _, let isComplete):
      return try candidates(ofEither: plans, isComplete: isComplete, rowCount)
    case .scan, .values, .joining(.member, _, _), .rows, .referring: return nil
    }
  }

  /// Looks for the rows that the predicate's test of other rows finds, and counts those that refer to them.
  private func candidates(
    referringTo target: QueryExpression.TargetTest,
    isComplete: Bool,
    _ rowCount: Int
  ) throws -> Candidates? {
    guard isColumn(target.property),
      let targets = try resolver.targets(
        of: target,
        atMost: ScanMethod.targetLimit(rowCount: rowCount),
        insteadOf: rowCount
      )
    else { return nil }
    return try candidates(referringTo: targets, target.property, isExact: isComplete, rowCount)
  }

  private func candidates(
    referringTo targets: [RowReference],
    _ property: ModelProperty,
    isExact: Bool,
    _ rowCount: Int
  ) throws -> Candidates {
    let count = try targets.reduce(0) {
      try $0 + resolver.count(referringTo: $1, inTable: table.number, column: property.ordinal)
    }
    return Candidates(
      count: count,
      limit: ScanMethod.indexLimit(rowCount: rowCount, .nothing),
      isExact: isExact,
      path: .references(property.name)
    ) { try keys(referringTo: targets, property) }
  }

  /// Counts the rows of each of some alternatives.
  private func candidates(
    ofEither plans: [CandidatePlan],
    isComplete: Bool,
    _ rowCount: Int
  ) throws -> Candidates? {
    // Few rows are looked up, whatever columns could tell.
    var limit = ScanMethod.indexLimit(rowCount: rowCount, .unknown)
    var isLimitKnown = false
    var parts: [Candidates] = []
    var count = 0
    // Other rows are looked for only if indexes lead to all other alternatives.
    let late = plans.filter(\.isJoining)
    for plan in plans.filter({ !$0.isJoining }) + late {
      guard let part = try candidates(ofOne: plan, rowCount) else { return nil }
      count += part.count
      if count > limit, !isLimitKnown {
        limit = limitOfAlternatives(isComplete: isComplete, rowCount)
        isLimitKnown = true
      }
      if count > limit { return nil }
      parts.append(part)
    }
    return Candidates(
      count: count,
      limit: limit,
      isExact: isComplete && parts.allSatisfy(\.isExact),
      isCountExact: false,
      path: .either(parts.map(\.path))
    ) {
      var keys = try parts.flatMap { try $0.keys() }
      keys.sortToSet()
      return keys
    }
  }

  /// The greatest count of rows that alternatives name with which no scan of the table is better.
  private func limitOfAlternatives(isComplete: Bool, _ rowCount: Int) -> Int {
    let answer = ColumnPlan(expression, of: table, resolver).answer(for: output)
    // What columns tell alone they tell faster than an index that leads to rows which have to be read.
    return ScanMethod.indexLimit(
      rowCount: rowCount,
      answer == .everything && isComplete ? .rowsToRead : answer
    )
  }

  /// Counts the rows of one of several alternatives.
  private func candidates(ofOne plan: CandidatePlan, _ rowCount: Int) throws -> Candidates? {
    switch plan {
    case .values:
      guard
        let found = try TableIndexes(store, table, plan, isFiltered: true, view)?.narrowest()
      else { return nil }
      return Candidates(
        count: found.count,
        limit: .max,
        isExact: found.use.isExact,
        path: TableTally.path(found, of: table)
      ) { try found.use.rowKeys(in: found.keys) }
    case .rows(let identifiers):
      let keys = keys(of: identifiers)
      return Candidates(count: keys.count, limit: .max, path: .identifiers) { keys }
    case .referring(let property, let identifiers):
      if !isColumn(property) { return nil }
      let targets = identifiers.compactMap(store.reference(of:))
      return try candidates(referringTo: targets, property, isExact: false, rowCount)
    case .joining, .either, .scan: return try candidates(of: plan, rowCount)
    }
  }
}

extension [UInt64] {
  /// Sorts the numbers, and leaves one of each.
  fileprivate mutating func sortToSet() {
    sort()
    var count = 0
    for number in self where count == 0 || self[count - 1] != number {
      self[count] = number
      count += 1
    }
    removeSubrange(count...)
  }
}

extension CandidatePlan {
  /// Whether rows that one of several plans names can match, and the predicate asks nothing else.
  var isEither: Bool { if case .either(_, _, isComplete: true) = self { true } else { false } }

  fileprivate var isJoining: Bool { if case .joining = self { true } else { false } }
}
