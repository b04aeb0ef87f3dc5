import ModelRuntime

/// The words that the text of a row must have for a predicate to match it.
///
/// A plan names candidates, never answers; see ``CandidatePlan``.
indirect enum WordPlan {
  /// The text of a column contains a pattern.
  case containing(WordPattern, column: Int, of: ModelDescriptor)
  case all([WordPlan])
  case any([WordPlan])

  /// - Returns: `nil` if the words of texts tell nothing about which rows match.
  init?(_ expression: QueryExpression) {
    if let search = expression.textSearch {
      guard search.path.isTestedRow, let pattern = WordPattern(containing: search.text) else {
        return nil
      }
      self = .containing(pattern, column: search.reading.column, of: search.path.descriptor)
      return
    }
    if let test = expression.requiredTest {
      self.init(test)
      return
    }
    switch expression {
    case .and(let lhs, let rhs):
      let plans = [WordPlan(lhs), WordPlan(rhs)].compactMap { $0 }
      if plans.isEmpty { return nil }
      self = .all(plans)
    case .or(let lhs, let rhs):
      guard let lhs = WordPlan(lhs), let rhs = WordPlan(rhs) else { return nil }
      self = .any([lhs, rhs])
    default: return nil
    }
  }

  /// The rows that may match, ascending.
  ///
  /// - Parameters:
  ///   - limit: The number of rows that are worth looking at.
  ///   - words: The words of a column; `nil` if they are not known.
  /// - Returns: `nil` if there are more, or if nothing is known.
  /// - Throws: What `words` throws, or ``DamagedWords``.
  func candidates(
    atMost limit: Int,
    _ words: (_ column: Int, _ owner: ModelDescriptor) throws -> IndexedWords?
  ) throws -> [UInt64]? {
    switch self {
    case .containing(let pattern, let column, let owner):
      return try words(column, owner)?.candidates(pattern, atMost: limit)
    case .all(let plans):
      var shared: [UInt64]?
      for plan in plans {
        guard let found = try plan.candidates(atMost: limit, words) else { continue }
        shared = shared.map { Array(Set($0).intersection(found)).sorted() } ?? found
      }
      return shared
    case .any(let plans):
      var all: [UInt64] = []
      for plan in plans {
        guard let found = try plan.candidates(atMost: limit, words) else { return nil }
        all += found
      }
      return all.count > limit ? nil : all.sortedWithoutRepetitions()
    }
  }

  /// The columns whose words are asked for.
  var columns: Set<Int> {
    switch self {
    case .containing(_, let column, _): [column]
    case .all(let plans), .any(let plans): plans.reduce(into: []) { $0.formUnion($1.columns) }
    }
  }
}
