extension QueryExpression {
  /// A test of a row that is actually a test of a member of its list.
  package struct MemberTest: Sendable {
    /// The to-many property that has the members.
    package let property: ModelProperty
    /// The property of the members that leads back.
    package let inverse: ModelProperty
    /// The test that one of the members must pass, from the member's point of view.
    package let test: QueryExpression

    /// Whether the test gives a result for every row, and never fails.
    package var alwaysAnswers: Bool { test.alwaysAnswers }
  }

  /// The test of a list's members that this one reduces to.
  ///
  /// A row passes only if some member of its list passes the other test. So a store may find the members first, and
  /// then the rows with these members in their lists.
  ///
  /// - Returns: `nil` for a test of the row itself, of several lists, passed by rows whose lists are empty,
  ///   or by all that have any member.
  package var memberTest: MemberTest? {
    switch self {
    case .or(let lhs, let rhs):
      guard let lhs = lhs.memberTest, let rhs = rhs.memberTest, lhs.property === rhs.property else {
        return nil
      }
      return MemberTest(
        property: lhs.property,
        inverse: lhs.inverse,
        test: .or(lhs.test, rhs.test)
      )
    case .exists(let list, where: let condition):
      guard list.owner.level == 0, list.owner.steps.isEmpty, let inverse = list.property.inverse
      else { return nil }
      if list.condition == nil, case .constant = condition { return nil }
      let test = list.condition.map { .and($0, condition) } ?? condition
      return test.fromMember.map {
        MemberTest(property: list.property, inverse: inverse, test: $0)
      }
    default: return nil
    }
  }

  /// Whether an evaluation gives a value for every row: nothing is computed, unwrapped, or read from other rows.
  fileprivate var alwaysAnswers: Bool {
    switch self {
    case .constant, .constants: true
    case .column(let path, let reading): path.steps.isEmpty && reading.enumeration == nil
    case .identifier(let path): path.steps.isEmpty
    case .comparison(_, let lhs, let rhs, _), .and(let lhs, let rhs), .or(let lhs, let rhs),
      .text(_, let lhs, let rhs):
      lhs.alwaysAnswers && rhs.alwaysAnswers
    case .not(let test), .isNull(let test), .membership(let test, _): test.alwaysAnswers
    default: false
    }
  }
}

// MARK: From the member's point of view

extension QueryExpression {
  /// The expression with each level of rows one further out, so that a list's member becomes the tested row.
  ///
  /// - Returns: `nil` if the expression refers to the row that has the list.
  private var fromMember: QueryExpression? {
    switch self {
    case .constant, .constants: return self
    case .column(let path, let reading): return path.fromMember.map { .column($0, reading) }
    case .structured(let path, let reading): return path.fromMember.map { .structured($0, reading) }
    case .identifier(let path): return path.fromMember.map(QueryExpression.identifier)
    case .row(let path): return path.fromMember.map(QueryExpression.row)
    case .castRow(let path, let type): return path.fromMember.map { .castRow($0, to: type) }
    case .isKind(let path, let type): return path.fromMember.map { .isKind($0, of: type) }
    case .list(let list): return list.fromMember.map(QueryExpression.list)
    case .count(let list): return list.fromMember.map(QueryExpression.count)
    case .exists(let list, where: let test):
      guard let list = list.fromMember, let test = test.fromMember else { return nil }
      return .exists(list, where: test)
    case .membership(let value, let constants):
      return value.fromMember.map { .membership($0, constants) }
    case .isNull(let value): return value.fromMember.map(QueryExpression.isNull)
    case .not(let test): return test.fromMember.map(QueryExpression.not)
    case .unwrapped(let value): return value.fromMember.map(QueryExpression.unwrapped)
    case .mapped(let value, let map): return value.fromMember.map { .mapped($0, map) }
    case .comparison(let relation, let lhs, let rhs, let kind):
      return both(lhs, rhs) { .comparison(relation, $0, $1, kind) }
    case .arithmetic(let operation, let lhs, let rhs, let kind):
      return both(lhs, rhs) { .arithmetic(operation, $0, $1, kind) }
    case .text(let question, let lhs, let rhs): return both(lhs, rhs) { .text(question, $0, $1) }
    case .textComparison(let comparison, let lhs, let rhs):
      return both(lhs, rhs) { .textComparison(comparison, $0, $1) }
    case .and(let lhs, let rhs): return both(lhs, rhs) { .and($0, $1) }
    case .or(let lhs, let rhs): return both(lhs, rhs) { .or($0, $1) }
    case .coalesce(let lhs, let rhs): return both(lhs, rhs) { .coalesce($0, $1) }
    case .ifPresent(let lhs, let rhs): return both(lhs, rhs) { .ifPresent($0, $1) }
    case .combined(let lhs, let rhs, let combination):
      return both(lhs, rhs) { .combined($0, $1, combination) }
    case .conditional(let test, then: let then, else: let otherwise):
      guard let test = test.fromMember else { return nil }
      return both(then, otherwise) { .conditional(test, then: $0, else: $1) }
    case .range, .behind: return nil
    }
  }

  private func both(
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ join: (QueryExpression, QueryExpression) -> QueryExpression
  ) -> QueryExpression? {
    guard let lhs = lhs.fromMember, let rhs = rhs.fromMember else { return nil }
    return join(lhs, rhs)
  }
}

extension QueryExpression.MemberList {
  fileprivate var fromMember: QueryExpression.MemberList? {
    guard let owner = owner.fromMember else { return nil }
    var list = QueryExpression.MemberList(
      owner: owner,
      property: property,
      element: element,
      condition: nil
    )
    if let condition {
      guard let condition = condition.fromMember else { return nil }
      list.condition = condition
    }
    return list
  }
}

extension RowPath {
  fileprivate var fromMember: RowPath? {
    guard level > 0 else { return nil }
    let start = RowPath(level: level - 1, descriptor: descriptor)
    return steps.reduce(start) { $0.appending($1) }.cast(to: descriptor)
  }
}
