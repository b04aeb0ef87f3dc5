import RowFormat

/// A cache of what was found out about rows that many others lead to.
///
/// Sound because a filter and its reads belong to one state of the store.
private final class RowCache<Value> {
  private var values: [RowReference: Value] = [:]

  /// Maximum number of rows that are remembered.
  private static var limit: Int { 65_536 }

  func value(of row: RowReference, _ find: () throws -> Value) rethrows -> Value {
    if let known = values[row] { return known }
    let found = try find()
    if values.count == Self.limit { values = [:] }
    values[row] = found
    return found
  }
}

extension ExpressionCompiler {
  /// A reader that finds out the same about the list of one owner only once: many rows may lead to it, and each would look at all
  /// members of its list again.
  ///
  /// - Parameters:
  ///   - list: The list.
  ///   - condition: What its members are tested with, if anything.
  ///   - find: Finds it out.
  /// - Returns: `find` itself if each row has a list of its own, or if the condition also depends on the row.
  func onceForEachOwner<Value>(
    of list: QueryExpression.MemberList,
    _ condition: QueryExpression?,
    _ find: @escaping RowReader<Value>
  ) -> RowReader<Value> {
    let level = levels.count - 1
    if list.owner.steps.isEmpty, list.owner.level == level { return find }
    if let condition, condition.reads(levelsUpTo: level) { return find }
    let owner = referenceReader(list.owner)
    let known = RowCache<Value>()
    return { row, reference, scope in
      let target = try owner(row, reference, scope)
      if target == .none { return try find(row, reference, scope) }
      return try known.value(of: target) { try find(row, reference, scope) }
    }
  }

  /// A test that tests each row only once: many lists may have it, and it may have a list of them itself, which is read with it.
  ///
  /// - Parameters:
  ///   - list: The list that the rows are members of.
  ///   - condition: The condition they are tested with.
  ///   - test: Tests one.
  /// - Returns: `test` itself if a row is in one list only, or if the condition also depends on the owner.
  func onceForEachMember(
    of list: QueryExpression.MemberList,
    _ condition: QueryExpression,
    _ test: @escaping (RowReference, QueryScope) throws -> Bool
  ) -> (RowReference, QueryScope) throws -> Bool {
    if list.property.isDerivable || condition.reads(levelsUpTo: levels.count - 1) { return test }
    let known = RowCache<Bool>()
    return { member, scope in try known.value(of: member) { try test(member, scope) } }
  }
}

extension QueryExpression {
  /// Whether some part depends on a row of an outer level.
  fileprivate func reads(levelsUpTo level: Int) -> Bool {
    if case .behind = self { return true }
    return ownPaths.contains { $0.level <= level }
      || children.contains { $0.reads(levelsUpTo: level) }
  }
}
