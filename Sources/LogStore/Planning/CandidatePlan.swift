import ModelRuntime

/// The candidate rows of a predicate in a table: from it a fetch chooses its access path.
///
/// A plan names candidates, never answers: each of them is still tested by the whole predicate, so a plan may be
/// too wide and must not be too narrow.
enum CandidatePlan {
  /// Only these rows can match.
  case rows(Set<PersistentIdentifier>)
  /// Only rows can match that refer to one of these through a to-one property.
  case referring(ModelProperty, to: Set<PersistentIdentifier>)
  /// Only rows can match that are related to a row that passes a test, and have certain values besides.
  ///
  /// Complete if the predicate asks for nothing but the test.
  case joining(JoinTest, [ValueLookup], isComplete: Bool)
  /// Only rows can match that have certain values, in all of these columns.
  ///
  /// Complete if the predicate asks for nothing else.
  case values([ValueLookup], isComplete: Bool)
  /// Only rows can match that one of these plans names, and have certain values besides.
  ///
  /// Complete if the predicate asks for nothing but that a row passes one of the tests these plans were made for.
  case either([CandidatePlan], [ValueLookup], isComplete: Bool)
  /// Any row can match.
  case scan

  /// A test of the rows at the other end of a relationship.
  enum JoinTest {
    /// Of the row that a row refers to.
    case target(QueryExpression.TargetTest)
    /// Of the members of a row's list.
    case member(QueryExpression.MemberTest)
  }

  /// Plans a fetch.
  ///
  /// - Parameters:
  ///   - expression: The predicate; `nil` if there is none.
  ///   - texts: The hash of texts in the store's indexes.
  init(_ expression: QueryExpression?, _ texts: TextHash) {
    guard let expression else {
      self = .scan
      return
    }
    if let target = expression.targetTest {
      self = .joining(.target(target), [], isComplete: true)
      return
    }
    if let member = expression.memberTest {
      // A row whose list has a member that passes may have one before it whose test fails.
      self = .joining(.member(member), [], isComplete: member.alwaysAnswers)
      return
    }
    switch expression {
    case .constant(.bool(false)), .constant(.null): self = .rows([])
    case .and(let lhs, let rhs):
      self = CandidatePlan(lhs, texts).intersection(CandidatePlan(rhs, texts))
    case .or: self = CandidatePlan(anyOf: expression.alternatives[...], texts)
    case .comparison(.equal, .identifier(let path), .constant(let constant), _),
      .comparison(.equal, .constant(let constant), .identifier(let path), _):
      self = CandidatePlan(path, isIn: [constant])
    case .membership(.identifier(let path), let constants):
      self = CandidatePlan(path, isIn: constants)
    case .comparison(let relation, .column(let path, let reading), .constant(let constant), _):
      self = CandidatePlan(ValueLookup(relation, path, reading, constant, texts))
    case .comparison(let relation, .constant(let constant), .column(let path, let reading), _):
      self = CandidatePlan(ValueLookup(relation.reversed, path, reading, constant, texts))
    case .isNull(.column(let path, let reading)):
      self = CandidatePlan(ValueLookup(nil: path, reading, texts))
    case .membership(.column(let path, let reading), let constants):
      self = CandidatePlan(ValueLookup(path, reading, isIn: constants, texts))
    case .text(.startsWith, .column(let path, let reading), .constant(.text(let text))):
      self = CandidatePlan(ValueLookup(path, reading, beginsWith: text, texts))
    // Null does not match, so the value has to be true.
    case .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), _):
      self = CandidatePlan(test, texts)
    case .ifPresent(_, let test): self = CandidatePlan(test, texts).incomplete
    default: self = .scan
    }
  }

  /// Plans for rows that pass any of some tests.
  ///
  /// - Complexity: O(*n* log *n*) for *n* tests of one column.
  private init(anyOf tests: ArraySlice<QueryExpression>, _ texts: TextHash) {
    if tests.count == 1, let test = tests.first {
      self.init(test, texts)
      return
    }
    let middle = tests.startIndex + tests.count / 2
    self = CandidatePlan(anyOf: tests[..<middle], texts)
      .union(CandidatePlan(anyOf: tests[middle...], texts))
  }

  private init(_ lookup: ValueLookup?) {
    self = lookup.map { .values([$0], isComplete: true) } ?? .scan
  }

  /// The same candidates, all of which have to be tested.
  private var incomplete: CandidatePlan {
    switch self {
    case .values(let lookups, _): .values(lookups, isComplete: false)
    case .joining(let test, let lookups, _): .joining(test, lookups, isComplete: false)
    case .either(let plans, let lookups, _): .either(plans, lookups, isComplete: false)
    case .rows, .referring, .scan: self
    }
  }

  /// Plans for a path to a row whose name is one of some constants.
  private init(_ path: RowPath, isIn constants: [QueryValue]) {
    // The tested row itself, or one step from it; nil has no name, and is in no index.
    guard path.level == 0, path.steps.count <= 1 else {
      self = .scan
      return
    }
    var identifiers: Set<PersistentIdentifier> = []
    for constant in constants {
      guard case .identifier(let identifier) = constant else {
        self = .scan
        return
      }
      identifiers.insert(identifier)
    }
    self =
      if let step = path.steps.first { .referring(step.property, to: identifiers) } else {
        .rows(identifiers)
      }
  }
}

extension CandidatePlan {
  /// The plan for rows that match both sides: the narrower one, or the rows that both name.
  private func intersection(_ other: CandidatePlan) -> CandidatePlan {
    switch (self, other) {
    case (.rows(let lhs), .rows(let rhs)): .rows(lhs.intersection(rhs))
    case (.referring(let lhs, let few), .referring(let rhs, let more)):
      if lhs === rhs {
        .referring(lhs, to: few.intersection(more))
      } else {
        few.count <= more.count ? self : other
      }
    // Rows that are named are fewer than those that have to be looked for.
    case (.rows, _): self
    case (_, .rows): other
    case (.referring, _): self
    case (_, .referring): other
    case (.scan, .scan): .scan
    case (_, .scan): incomplete
    case (.scan, _): other.incomplete
    case (.values(let lhs, let isComplete), .values(let rhs, let isOtherComplete)):
      .values(lhs + rhs, isComplete: isComplete && isOtherComplete)
    case (.joining(.member, let rhs, _), .joining(.target(let target), let lhs, _)):
      .joining(.target(target), lhs + rhs, isComplete: false)
    case (.joining(let test, let lhs, _), _): .joining(test, lhs + other.lookups, isComplete: false)
    case (_, .joining(let test, let rhs, _)): .joining(test, lookups + rhs, isComplete: false)
    case (.either(let plans, let lhs, _), _): .either(plans, lhs + other.lookups, isComplete: false)
    case (_, .either(let plans, let rhs, _)): .either(plans, lookups + rhs, isComplete: false)
    }
  }

  /// The plan for rows that match either side.
  private func union(_ other: CandidatePlan) -> CandidatePlan {
    switch (self, other) {
    case (.rows(let none), let some) where none.isEmpty: some
    case (let some, .rows(let none)) where none.isEmpty: some
    case (.scan, _), (_, .scan): .scan
    default: merged(other) ?? CandidatePlan(either: self, other)
    }
  }

  /// One plan of the same kind for rows that match either side; `nil` if there is none that is not wider.
  private func merged(_ other: CandidatePlan) -> CandidatePlan? {
    switch (self, other) {
    case (.rows(let lhs), .rows(let rhs)): .rows(lhs.union(rhs))
    case (.referring(let property, let lhs), .referring(let same, let rhs)) where property === same:
      .referring(property, to: lhs.union(rhs))
    case (.values(let lhs, let isComplete), .values(let rhs, let isOtherComplete)):
      // The values of one column may belong to those of another.
      (lhs.hasColumns(of: rhs) ? lhs.union(rhs) : nil).map {
        .values($0, isComplete: isComplete && isOtherComplete && $0.count == 1)
      }
    default: nil
    }
  }

  /// The plan for rows that either of two plans names; neither is for any row.
  ///
  /// - Complexity: O(1) but for the values: so many alternatives are kept at most.
  private init(either lhs: CandidatePlan, _ rhs: CandidatePlan) {
    var plans = lhs.alternatives
    for plan in rhs.alternatives {
      let merged = plans.lazy.enumerated().compactMap { place, other in
        other.merged(plan).map { (place, $0) }
      }.first
      if let (place, merged) = merged { plans[place] = merged } else { plans.append(plan) }
    }
    let common = lhs.lookups.union(rhs.lookups)
    self =
      if plans.count <= CandidatePlan.alternativeLimit {
        .either(plans, common ?? [], isComplete: true)
      } else {
        common.map { .values($0, isComplete: false) } ?? .scan
      }
  }

  /// Maximum number of alternatives of which each is looked up.
  private static let alternativeLimit = 16

  /// The alternatives that the plan is for.
  private var alternatives: [CandidatePlan] {
    guard case .either(let plans, let lookups, let isComplete) = self else { return [self] }
    if isComplete { return plans }
    return plans.map { lookups.isEmpty ? $0.incomplete : $0.besides(lookups) }
  }

  /// The plan for those rows that have certain values besides.
  private func besides(_ lookups: [ValueLookup]) -> CandidatePlan {
    intersection(.values(lookups, isComplete: false))
  }

  /// The values that all of the rows have.
  private var lookups: [ValueLookup] {
    switch self {
    case .values(let lookups, _), .joining(_, let lookups, _), .either(_, let lookups, _): lookups
    case .rows, .referring, .scan: []
    }
  }
}

extension [ValueLookup] {
  /// Whether the columns are all of one class: those of several have different meanings.
  private var areOfOneClass: Bool { allSatisfy { $0.owner === first?.owner } }

  /// Whether all columns of either side are among those of the other.
  fileprivate func hasColumns(of other: Self) -> Bool {
    func hasAll(_ lookups: Self, _ others: Self) -> Bool {
      lookups.allSatisfy { own in others.contains { $0.column.number == own.column.number } }
    }
    return areOfOneClass && other.areOfOneClass && hasAll(self, other) && hasAll(other, self)
  }

  /// The values of rows that have those of either side, in the columns of which both say something; `nil` if there is none.
  fileprivate func union(_ other: Self) -> Self? {
    guard areOfOneClass, other.areOfOneClass else { return nil }
    let (lhs, rhs) = (onePerColumn, other.onePerColumn)
    let unions = lhs.compactMap { own in rhs.lazy.compactMap(own.union).first }
    return unions.isEmpty ? nil : unions
  }
}

extension QueryExpression {
  /// The tests, any of which a row has to pass.
  fileprivate var alternatives: [QueryExpression] {
    var alternatives: [QueryExpression] = []
    var rest = [self]
    while let next = rest.popLast() {
      if case .or(let lhs, let rhs) = next {
        rest.append(rhs)
        rest.append(lhs)
      } else {
        alternatives.append(next)
      }
    }
    return alternatives
  }
}

extension QueryExpression.Relation {
  /// The relation that says the same with the sides exchanged.
  var reversed: Self {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

extension QueryExpression {
  /// Whether rows of a class can match at all.
  ///
  /// A fetch that asks `is Sub` need not look at the tables of other classes.
  func canMatch(rowsOf descriptor: ModelDescriptor) -> Bool {
    switch self {
    case .constant(.bool(false)), .constant(.null): false
    case .and(let lhs, let rhs):
      lhs.canMatch(rowsOf: descriptor) && rhs.canMatch(rowsOf: descriptor)
    case .or(let lhs, let rhs):
      lhs.canMatch(rowsOf: descriptor) || rhs.canMatch(rowsOf: descriptor)
    case .isKind(let path, let wanted), .ifPresent(.castRow(let path, let wanted), _):
      path.level > 0 || !path.steps.isEmpty || descriptor.isKind(of: wanted)
    case .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), _):
      test.canMatch(rowsOf: descriptor)
    default: true
    }
  }
}
