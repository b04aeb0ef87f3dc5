/// A fetch, in words that the oracle understands too.
struct Query: Codable, Hashable, Sendable {
  enum Condition: Codable, Hashable, Sendable {
    case all
    case key(Int)
    case group(Int)
    case value(Int)
    case valueAbove(Int)
    case groupAndValueAbove(Int, Int)
    /// The note is this word: found by a search, which takes no other call, order or page.
    case word(Int)

    func holds(for row: OracleState.Row, _ key: Int) -> Bool {
      switch self {
      case .all: true
      case .key(let wanted): key == wanted
      case .group(let wanted): row.group == wanted
      case .value(let wanted): row.value == wanted
      case .valueAbove(let bound): row.value > bound
      case .groupAndValueAbove(let wanted, let bound): row.group == wanted && row.value > bound
      case .word(let wanted): row.note == "n\(wanted)"
      }
    }
  }

  enum Sort: String, Codable, CaseIterable, Sendable { case none, key, value, groupDescending }

  /// The call of a context that answers.
  enum Call: String, Codable, CaseIterable, Sendable { case fetch, count, identifiers, enumerate }

  var kind: Kind
  var condition = Condition.all
  var sort = Sort.none
  var limit: Int?
  var offset: Int?
  var call = Call.fetch

  /// The keys that a context has to find, in order if the query says one.
  func answer(in state: OracleState) -> [Int] {
    var keys = state.keys(of: kind.withSubclasses).filter {
      state.rows[$0].map { [key = $0] in condition.holds(for: $0, key) } ?? false
    }
    func row(_ key: Int) -> OracleState.Row { state.rows[key] ?? OracleState.Row(kind: kind) }
    switch sort {
    case .none, .key: break
    case .value: keys.sort { (row($0).value, $0) < (row($1).value, $1) }
    case .groupDescending: keys.sort { (-row($0).group, $0) < (-row($1).group, $1) }
    }
    let rest = keys.dropFirst(offset ?? 0)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }
}
