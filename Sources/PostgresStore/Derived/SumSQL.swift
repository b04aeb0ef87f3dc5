#if PostgreSQL
import ModelRuntime

/// Counts and sums in SQL, as Swift makes them.
enum SumSQL {
  /// The value of a column's 64 bits, as a number of any size.
  static func number(_ column: String, _ arithmetic: SumArithmetic) -> String {
    let number = "coalesce(\(column), 0)::numeric"
    guard case .integer(let bounds) = arithmetic, bounds.upperBound > Int128(Int64.max) else {
      return number
    }
    return
      "CASE WHEN \(column) < 0 THEN \(column)::numeric + \(1 << 64 as Int128) ELSE \(number) END"
  }

  /// The stored value of a sum.
  ///
  /// - Parameters:
  ///   - sum: The sum.
  ///   - arithmetic: The arithmetic of the sum.
  ///   - former: The value that is kept if the attribute cannot hold the sum.
  /// - Returns: An expression.
  static func stored(_ sum: String, _ arithmetic: SumArithmetic, else former: String) -> String {
    switch arithmetic {
    case .integer(let bounds):
      let unsigned = bounds.upperBound > Int128(Int64.max)
      let bits =
        unsigned
        ? "(CASE WHEN \(sum) > \(Int64.max) THEN \(sum) - \(1 << 64 as Int128) ELSE \(sum) END)::bigint"
        : "(\(sum))::bigint"
      return "CASE WHEN \(fits(sum, bounds)) THEN \(bits) ELSE \(former) END"
    case .double: return sum
    case .float:
      // The server refuses to round a number to infinity or zero.
      return "CASE WHEN abs(\(sum)) <= 7.006492321624085e-46 THEN 0 "
        + "WHEN abs(\(sum)) >= 3.4028235677973366e38 THEN sign(\(sum)) * 'Infinity'::double precision "
        + "ELSE (\(sum))::real::double precision END"
    }
  }

  /// A sum as text if its attribute cannot hold it, otherwise null.
  static func overflow(_ sum: String, _ arithmetic: SumArithmetic) -> String {
    guard case .integer(let bounds) = arithmetic else { return "NULL::text" }
    return "CASE WHEN \(fits(sum, bounds)) THEN NULL ELSE (\(sum))::text END"
  }

  private static func fits(_ sum: String, _ bounds: ClosedRange<Int128>) -> String {
    "\(sum) BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)"
  }

  /// A count or a sum over all members.
  ///
  /// - Parameters:
  ///   - total: The total.
  ///   - tables: The tables of the store.
  ///   - condition: The condition on members, from the quoted name of the column of `m` that names their owner.
  /// - Returns: An expression.
  static func sum(
    of total: StoreDerivations.Total,
    _ tables: TableMap,
    where condition: (_ reference: String) -> String
  ) -> String {
    let zero = total.arithmetic.isExact ? "0::numeric" : "0::double precision"
    let parts = total.tables.compactMap { number -> String? in
      guard let table = tables.table(numbered: number) else { return nil }
      return "coalesce((SELECT \(aggregate(total.rule, table)) FROM \(table.name) AS m "
        + "WHERE \(condition(table.columns[total.rule.reference].name.quotedName))), \(zero))"
    }
    return parts.isEmpty ? zero : parts.joined(separator: " + ")
  }

  private static func aggregate(
    _ rule: StoreDerivations.MemberRule,
    _ table: MappedTable
  ) -> String {
    guard let summand = rule.summand.map({ "m.\(table.columns[$0].name.quotedName)" }) else {
      return "count(*)::numeric"
    }
    return rule.arithmetic.isExact
      ? "sum(\(number(summand, rule.arithmetic)))" : "sum(\(summand))"
  }
}
#endif
