extension QueryExpression {
  /// A test of a row that is actually a test of the row it refers to.
  package struct TargetTest: Sendable {
    /// The to-one property that leads to the other row.
    package let property: ModelProperty
    /// The class of the other row.
    package let destination: ModelDescriptor
    /// The test that the other row must pass, from its point of view.
    package let test: QueryExpression
  }

  /// The test of another row that this one reduces to.
  ///
  /// A row passes if and only if it refers to a row that passes the other test: a row that refers to no row, or to a
  /// deleted one, does not. So a store may find the other rows first, and then those that refer to them.
  ///
  /// - Returns: `nil` for a test of the row itself, of several others, or passed by rows that refer to
  ///   none.
  package var targetTest: TargetTest? {
    switch self {
    case .and(let lhs, let rhs): TargetTest(lhs, rhs) { .and($0, $1) }
    case .or(let lhs, let rhs): TargetTest(lhs, rhs) { .or($0, $1) }
    case .comparison(
      let relation,
      .column(let path, let reading),
      .constant(let constant),
      let kind
    ):
      TargetTest(
        path,
        passesWithoutRow: relation.holds(path.valueWithoutRow(reading), constant, as: reading.kind)
      ) { .comparison(relation, .column($0, reading), .constant(constant), kind) }
    case .comparison(
      let relation,
      .constant(let constant),
      .column(let path, let reading),
      let kind
    ):
      TargetTest(
        path,
        passesWithoutRow: relation.holds(constant, path.valueWithoutRow(reading), as: reading.kind)
      ) { .comparison(relation, .constant(constant), .column($0, reading), kind) }
    case .membership(.column(let path, let reading), let constants):
      TargetTest(path, passesWithoutRow: constants.contains(path.valueWithoutRow(reading))) {
        .membership(.column($0, reading), constants)
      }
    case .text(let question, .column(let path, let reading), .constant(.text(let text))):
      TargetTest(path, passesWithoutRow: question.passesWithoutRow(path, reading, text)) {
        .text(question, .column($0, reading), .constant(.text(text)))
      }
    case .coalesce(let test, .constant(.bool(false))):
      test.targetTest?.asking { .coalesce($0, .constant(.bool(false))) }
    case .comparison(.equal, let test, .constant(.bool(true)), let kind):
      test.targetTest?.asking { .comparison(.equal, $0, .constant(.bool(true)), kind) }
    case .ifPresent(.row(let path), let test)
    where path.level == 0 && path.steps.count == 1 && path.isUncast:
      // The row that passes is there.
      test.targetTest.flatMap { $0.property === path.steps[0].property ? $0 : nil }
    default: nil
    }
  }
}

extension QueryExpression.TargetTest {
  /// The same with another test of the other row, made of this one's.
  fileprivate func asking(_ test: (QueryExpression) -> QueryExpression) -> Self {
    QueryExpression.TargetTest(property: property, destination: destination, test: test(self.test))
  }

  /// Combines two tests of the same row into one.
  fileprivate init?(
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ join: (QueryExpression, QueryExpression) -> QueryExpression
  ) {
    guard let lhs = lhs.targetTest, let rhs = rhs.targetTest, lhs.property === rhs.property else {
      return nil
    }
    property = lhs.property
    destination = lhs.destination
    test = join(lhs.test, rhs.test)
  }

  /// A test of a path's target, with the path that begins one step later.
  fileprivate init?(
    _ path: RowPath,
    passesWithoutRow: Bool,
    _ test: (RowPath) -> QueryExpression
  ) {
    guard !passesWithoutRow, path.level == 0, let step = path.steps.first,
      case .toOne(let type) = step.property.kind
    else { return nil }
    let destination = ModelDescriptor.of(type)
    // A path with a cast applies to rows of a subclass only.
    guard path.isUncast else { return nil }
    property = step.property
    self.destination = destination
    self.test = test(path.droppingFirst(from: destination))
  }
}

extension RowPath {
  /// Whether what follows the first step is asked of the class that the step's property names.
  fileprivate var isUncast: Bool {
    guard let step = steps.first, case .toOne(let type) = step.property.kind else { return false }
    let destination = ModelDescriptor.of(type)
    return steps.count > 1
      ? destination.properties.contains { $0 === steps[1].property } : descriptor === destination
  }

  /// The value read if the first step leads to no row.
  fileprivate func valueWithoutRow(_ reading: ColumnReading) -> QueryValue {
    RowPath.absence(at: steps[...]) == .neutral ? reading.absent : .null
  }

  /// The path from the row that the first step leads to.
  fileprivate func droppingFirst(from destination: ModelDescriptor) -> RowPath {
    steps.dropFirst().reduce(RowPath(level: 0, descriptor: destination)) { path, step in
      path.appending(step)
    }.cast(to: descriptor)
  }
}

extension QueryExpression.TextTest {
  fileprivate func passesWithoutRow(
    _ path: RowPath,
    _ reading: ColumnReading,
    _ text: String
  ) -> Bool {
    guard case .text(let absent) = path.valueWithoutRow(reading) else { return false }
    return holds(absent, text)
  }
}
