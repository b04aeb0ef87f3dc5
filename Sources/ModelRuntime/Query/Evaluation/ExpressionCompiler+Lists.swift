import RowFormat

extension ExpressionCompiler {
  /// The test whether a value is one of some constants.
  func membershipTest(_ expression: QueryExpression, _ constants: [QueryValue]) -> RowTest {
    switch expression {
    case .identifier(let path):
      let name = referenceReader(path)
      let names = Set(
        constants.compactMap { value -> UInt64? in
          if case .reference(let reference) = resolved(value) { reference.rawValue } else { nil }
        }
      )
      let hasNull = constants.contains(.null)
      return {
        let name = try name($0, $1, $2)
        return name == .none ? hasNull : names.contains(name.rawValue)
      }
    case .column(_, let reading)
    where reading.enumeration == nil && (reading.kind == .integer || reading.kind == .unsigned):
      let number = integer(expression)
      let numbers = Set(
        constants.compactMap { if case .integer(let value) = $0 { value } else { nil } }
      )
      let hasNull = constants.contains(.null)
      return { try number($0, $1, $2).map(numbers.contains) ?? hasNull }
    default:
      let value = value(expression)
      let set = Set(constants.map(resolved))
      return { try set.contains(value($0, $1, $2)) }
    }
  }

  /// The test whether some member of a list passes.
  func existenceTest(
    _ list: QueryExpression.MemberList,
    _ condition: QueryExpression
  ) -> RowTest {
    if list.condition == nil, case .constant(.bool(true)) = condition {
      let members = existingMemberReader(list)
      return onceForEachOwner(of: list, nil) { try !members($0, $1, $2).isEmpty }
    }
    let members = memberReader(list)
    let test = list.condition.map { QueryExpression.and($0, condition) } ?? condition
    let passing = onceForEachMember(of: list, test, memberTest(test))
    return onceForEachOwner(of: list, test) { row, reference, scope in
      let members = try members(row, reference, scope)
      if members.isEmpty { return false }
      return try scope.nesting(row, reference) {
        try members.contains { try passing($0, scope) }
      }
    }
  }

  /// The reader of the number of members that pass the list's condition.
  func countReader(_ list: QueryExpression.MemberList) -> RowReader<Int> {
    guard let condition = list.condition else {
      let members = existingMemberReader(list)
      return onceForEachOwner(of: list, nil) { try members($0, $1, $2).count }
    }
    let members = memberReader(list)
    let passing = onceForEachMember(of: list, condition, memberTest(condition))
    return onceForEachOwner(of: list, condition) { row, reference, scope in
      let members = try members(row, reference, scope)
      return try scope.nesting(row, reference) {
        try members.reduce(0) { try passing($1, scope) ? $0 + 1 : $0 }
      }
    }
  }

  /// The test of one member by a condition on the next level of rows.
  private func memberTest(
    _ condition: QueryExpression
  ) -> (RowReference, QueryScope) throws -> Bool {
    let tests = ReaderCache { descriptor in
      var inner = self
      inner.levels.append(descriptor)
      return inner.test(condition)
    }
    return { [resolver] member, scope in
      guard let descriptor = resolver.descriptor(of: member) else { return false }
      let test = tests.reader(for: descriptor)
      var passes = false
      _ = try resolver.withRow(member) { passes = try test($0, member, scope) }
      return passes
    }
  }

  /// The reader of a list's existing members, in order.
  private func existingMemberReader(
    _ list: QueryExpression.MemberList
  ) -> RowReader<[RowReference]> {
    let members = memberReader(list)
    if list.property.inverse != nil { return members }
    let exists = presenceTest()
    return { try members($0, $1, $2).filter(exists) }
  }

  /// The reader of the names in a list, in order; without an inverse, names of deleted rows are included.
  private func memberReader(_ list: QueryExpression.MemberList) -> RowReader<[RowReference]> {
    let property = list.property
    if property.isDerivable {
      let owner = referenceReader(list.owner)
      return { [resolver] row, reference, scope in
        let owner = try owner(row, reference, scope)
        return owner == .none ? [] : try resolver.members(of: owner, property)
      }
    }
    return along(
      list.owner,
      missing: { absence in
        if absence == .failure { throw QueryFailure.unwrappedNil }
        return []
      },
      { descriptor in
        guard let slot = ColumnSlot(property.ordinal, descriptor) else { return failing() }
        let isOfClass = self.classTest(property)
        return { row, _, _ in
          if slot.isNull(in: row) { return [] }
          let members = slot.layout.references(slot.column, in: row)
          return members.allSatisfy(isOfClass) ? members : members.filter(isOfClass)
        }
      }
    )
  }
}
