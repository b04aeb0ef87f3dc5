#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Translates expressions of predicates into conditions of SQL.
///
/// SQL has three truth values, predicates have two. A condition made here may be null, and null then means false: in
/// a WHERE clause it is. Below NOT, and wherever else it would make a difference, null is replaced.
///
/// Parts that SQL cannot express are left out, so that a condition may hold for rows that do not match, and never the other
/// way round; ``isExact`` says whether any were.
final class ExpressionSQL {
  /// Whether the conditions hold for the rows that match and for no others.
  private(set) var isExact = true
  private(set) var parameters: Parameters
  private let tables: TableMap
  private let storeIdentifier: String
  /// A column of the tested row that is known not to be null.
  private let presentColumn: Int?
  /// The rows that the expression is about: the row that is tested, then members of lists.
  private var levels: [(alias: String, table: MappedTable)]
  private var aliasCount = 0

  /// Thrown for an expression that SQL cannot express.
  private struct NoSQL: Error {}

  /// Prepares the translation of expressions about rows of a table, which the statement calls `t`.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - tables: The tables of the store.
  ///   - storeIdentifier: The store's identifier.
  ///   - parameters: The parameters that the statement has already.
  ///   - presentColumn: A column that is null in no row of the statement.
  init(
    _ table: MappedTable,
    in tables: TableMap,
    storeIdentifier: String,
    _ parameters: Parameters = Parameters(),
    presentColumn: Int? = nil
  ) {
    self.presentColumn = presentColumn
    self.tables = tables
    self.storeIdentifier = storeIdentifier
    self.parameters = parameters
    levels = [("t", table)]
  }

  /// The condition of a predicate.
  func condition(_ expression: QueryExpression) -> String {
    do {
      return try test(expression, default: false)
    } catch {
      return approximation(expression)
    }
  }

  /// A condition that holds wherever the expression does; the expression as a whole has no SQL.
  private func approximation(_ expression: QueryExpression) -> String {
    isExact = false
    if let search = expression.textSearch {
      let conditions = [try? necessary(search), candidates(search)].compactMap(\.self)
      return conditions.isEmpty ? "true" : "(\(conditions.joined(separator: " AND ")))"
    }
    if let test = expression.requiredTest { return condition(test) }
    switch expression {
    case .and(let lhs, let rhs): return "(\(condition(lhs)) AND \(condition(rhs)))"
    case .or(let lhs, let rhs): return "(\(condition(lhs)) OR \(condition(rhs)))"
    default: return "true"
    }
  }

  /// A condition that the text of a matching row must meet: characters may be more than their scalars.
  private func necessary(_ search: TextSearch) throws -> String {
    if search.text.utf8.contains(0) { throw NoSQL() }
    let value = try value(search.column)
    let pattern = append(.text(search.text.precomposedStringWithCanonicalMapping), .text)
    switch search.question {
    case .contains: return "strpos(\(comparable(value)), \(pattern)) > 0"
    case .startsWith: return "starts_with(\(comparable(value)), \(pattern))"
    case .localizedStandardContains, .equalsIgnoringCase: throw NoSQL()
    }
  }

  /// The same condition in the words of an index of trigrams; `nil` if it is not certain.
  private func candidates(_ search: TextSearch) -> String? {
    let reading = search.reading
    // A row without a text has an empty one at most, which matches nothing that has a part.
    guard search.path.steps.isEmpty, reading.isOptional || reading.absent == .text(""),
      let column = try? column(search.path.level, reading)
    else { return nil }
    let folded = TextIndex.folded(column.sql)
    switch search.question {
    case .contains, .startsWith:
      guard let run = TextIndex.run(of: search.text.precomposedStringWithCanonicalMapping) else {
        return nil
      }
      return "\(folded) LIKE \(append(.text(TextIndex.pattern(containing: run)), .text))"
    case .localizedStandardContains, .equalsIgnoringCase:
      guard let part = search.question.necessaryASCII(of: search.text) else { return nil }
      let pattern =
        search.question == .equalsIgnoringCase
        ? TextIndex.pattern(equalTo: part) : TextIndex.pattern(containing: part)
      let like = "\(folded) LIKE \(append(.text(pattern), .text))"
      return "(\(TextIndex.hasOthers(column.sql)) OR \(like))"
    }
  }
}

// MARK: Tests

extension ExpressionSQL {
  /// The condition of an expression that is true or false, or null.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - default: The result for null.
  /// - Returns: The condition; where it is null, it counts as false.
  /// - Throws: ``NoSQL``.
  private func test(_ expression: QueryExpression, default: Bool) throws -> String {
    switch expression {
    case .constant(.bool(let value)): return "\(value)"
    case .constant(.null): return "\(`default`)"
    case .not(let operand):
      return "NOT COALESCE(\(try test(operand, default: !`default`)), false)"
    case .and(let lhs, let rhs):
      return "(\(try test(lhs, default: false)) AND \(try test(rhs, default: false)))"
    case .or(let lhs, let rhs):
      return "(\(try test(lhs, default: false)) OR \(try test(rhs, default: false)))"
    case .conditional(let condition, let then, let otherwise):
      return "CASE WHEN \(try test(condition, default: false)) "
        + "THEN \(try test(then, default: `default`)) "
        + "ELSE \(try test(otherwise, default: `default`)) END"
    case .coalesce(let value, .constant(.bool(let other))):
      return try test(value, default: other)
    case .ifPresent(let value, let then):
      return "CASE WHEN \(try nullTest(value)) THEN \(`default`) "
        + "ELSE \(try test(then, default: `default`)) END"
    case .comparison(let relation, let lhs, let rhs, let kind):
      return try comparison(relation, lhs, rhs, kind)
    case .membership(let value, let constants): return try membership(value, constants)
    case .isNull(let value): return try nullTest(value)
    case .isKind(let path, let descriptor) where path.steps.isEmpty:
      return "\(levels[path.level].table.descriptor.isKind(of: descriptor))"
    case .exists(let list, let condition):
      return "EXISTS (\(try members(list, "1", and: condition)))"
    case .column(_, let reading) where reading.kind == .bool:
      let value = try value(expression)
      return value.isNullable ? "COALESCE(\(value.sql), \(`default`))" : value.sql
    case .behind(let position): return try behind(position)
    default: throw NoSQL()
    }
  }

  private func nullTest(_ expression: QueryExpression) throws -> String {
    switch expression {
    case .constant(let value): return "\(value.isNull)"
    case .column(let path, let reading) where reading.enumeration == nil || reading.isOptional:
      if !reading.isOptional && path.steps.isEmpty { return "false" }
      return "\(try value(expression).sql) IS NULL"
    case .structured(let path, let reading) where reading.isNullWhereColumnIs:
      guard path.steps.isEmpty else { throw NoSQL() }
      return "\(try column(path.level, reading.column).sql) IS NULL"
    case .row(let path), .identifier(let path): return "\(try name(path)) IS NULL"
    default: throw NoSQL()
    }
  }

  private func comparison(
    _ relation: QueryExpression.Relation,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ kind: QueryKind
  ) throws -> String {
    switch (lhs, rhs) {
    case (.column(let path, let reading), .constant(let constant)):
      return try comparison(relation, path, reading, constant)
    case (.constant(let constant), .column(let path, let reading)):
      return try comparison(relation.mirrored, path, reading, constant)
    case (.identifier(let lhs), .identifier(let rhs)):
      let test = "\(try name(lhs)) IS NOT DISTINCT FROM \(try name(rhs))"
      return relation == .notEqual ? "NOT (\(test))" : test
    case (.identifier(let path), .constant(let constant)),
      (.constant(let constant), .identifier(let path)):
      return try comparison(relation, try name(path), constant)
    default:
      return try comparison(relation, try value(lhs, as: kind), try value(rhs, as: kind))
    }
  }

  /// The comparison of the name of a row with a constant.
  private func comparison(
    _ relation: QueryExpression.Relation,
    _ name: String,
    _ constant: QueryValue
  ) throws -> String {
    guard let reference = reference(constant) else {
      // A row of another store: not the same as any here, and not nil either.
      return "\(relation == .notEqual)"
    }
    let parameter = append(.integer(Int64(bitPattern: reference.rawValue)), .integer)
    return relation == .notEqual
      ? "\(name) IS DISTINCT FROM \(parameter)" : "\(name) = \(parameter)"
  }

  /// The comparison of two values that may be null.
  private func comparison(
    _ relation: QueryExpression.Relation,
    _ lhs: Value,
    _ rhs: Value
  ) throws -> String {
    // Nothing is in order with NaN, and NaN equals nothing; to the server it is the greatest number.
    let isNumber = [lhs, rhs].filter { $0.kind == .double || $0.kind == .float }
      .map { " AND COALESCE(\($0.sql) <> 'NaN', true)" }.joined()
    let (left, right) = (comparable(lhs), comparable(rhs))
    switch relation {
    case .equal: return "(\(left) IS NOT DISTINCT FROM \(right)\(isNumber))"
    case .notEqual: return "NOT (\(left) IS NOT DISTINCT FROM \(right)\(isNumber))"
    default:
      guard lhs.kind.hasServerOrder, rhs.kind.hasServerOrder else { throw NoSQL() }
      return "(\(left) \(relation.sign) \(right)\(isNumber))"
    }
  }

  /// The comparison of an attribute with a constant, so that an index can be used.
  private func comparison(
    _ relation: QueryExpression.Relation,
    _ path: RowPath,
    _ reading: ColumnReading,
    _ constant: QueryValue
  ) throws -> String {
    let isEquality = relation == .equal || relation == .notEqual
    let value: Value
    if path.steps.isEmpty, reading.isDecidedByBytes(relation, constant), !constant.isNull {
      // As it stands; what null counts as is said afterwards.
      value = try column(path.level, reading)
    } else {
      value = try self.value(.column(path, reading))
    }
    if constant.isNull {
      switch relation {
      case .equal: return "\(value.sql) IS NULL"
      case .notEqual: return "\(value.sql) IS NOT NULL"
      default: return "false"
      }
    }
    let test = try comparison(isEquality ? .equal : relation, value, constant)
    // The value that an absent one is compared as: null if the attribute or the path to it is optional.
    let absent: QueryValue =
      path.steps.isEmpty && !reading.isOptional ? reading.absent : .null
    let holds = (isEquality ? .equal : relation).holds(absent, constant, as: reading.kind)
    // Not as a value to take instead of null, which no index has.
    let complete = holds && value.isNullable ? "(\(test) OR \(nullTest(value)))" : test
    return relation == .notEqual ? "NOT COALESCE(\(complete), false)" : complete
  }

  private func comparison(
    _ relation: QueryExpression.Relation,
    _ value: Value,
    _ constant: QueryValue
  ) throws -> String {
    switch (value.kind, constant) {
    case (.date, .double(let seconds)):
      return try dateComparison(relation, value.sql, seconds)
    case (.double, .double(let number)), (.float, .double(let number)):
      if number.isNaN { return "false" }
      let parameter = append(constant, value.kind)
      let isNumber =
        relation == .greater || relation == .greaterOrEqual ? " AND \(value.sql) <> 'NaN'" : ""
      return "(\(value.sql) \(relation.sign) \(parameter)\(isNumber))"
    case (.unsigned, .integer(let bits)) where relation != .equal:
      let parameter = append(.integer(bits ^ .min), .integer)
      return "\(comparable(value)) \(relation.sign) \(parameter)"
    case (.text, .text(let text)), (.url, .text(let text)):
      if text.utf8.contains(0) || relation != .equal && value.kind == .url { throw NoSQL() }
      let parameter = append(.text(text.precomposedStringWithCanonicalMapping), .text)
      return "\(comparable(value)) \(relation.sign) \(parameter)"
    case (.integer, .integer), (.unsigned, .integer), (.uuid, .uuid):
      return "\(value.sql) \(relation.sign) \(append(constant, value.kind))"
    case (.bool, .bool), (.bytes, .bytes):
      if relation != .equal { throw NoSQL() }
      return "\(value.sql) = \(append(constant, value.kind))"
    default: throw NoSQL()
    }
  }

  /// The condition that a value is null, in the terms of an index.
  private func nullTest(_ value: Value) -> String {
    "\(value.kind == .text || value.kind == .url ? comparable(value) : value.sql) IS NULL"
  }

  /// The comparison of a date: the server keeps microseconds, a constant may lie between two of them.
  private func dateComparison(
    _ relation: QueryExpression.Relation,
    _ sql: String,
    _ seconds: Double
  ) throws -> String {
    guard let (first, behind) = PostgresDate.microseconds(around: seconds) else { throw NoSQL() }
    func parameter(_ microseconds: Int64) -> String {
      parameters.append(timestamp: microseconds)
      return "$\(parameters.count)"
    }
    switch relation {
    case .less: return "\(sql) < \(parameter(first))"
    case .lessOrEqual: return "\(sql) < \(parameter(behind))"
    case .greater: return "\(sql) >= \(parameter(behind))"
    case .greaterOrEqual: return "\(sql) >= \(parameter(first))"
    case .equal, .notEqual:
      if first == behind { return "(\(sql) IS NULL AND false)" }
      return "(\(sql) >= \(parameter(first)) AND \(sql) < \(parameter(behind)))"
    }
  }

  private func membership(_ expression: QueryExpression, _ constants: [QueryValue]) throws -> String
  {
    var hasNull = constants.contains(.null)
    let test: String
    let null: String
    if case .identifier(let path) = expression {
      let name = try name(path)
      let references = constants.compactMap(reference)
      parameters.append(references.map { Int64(bitPattern: $0.rawValue) })
      test = "\(name) = ANY ($\(parameters.count))"
      null = "\(name) IS NULL"
    } else {
      let value: Value
      if case .column(let path, let reading) = expression, path.steps.isEmpty,
        constants.allSatisfy({ reading.isDecidedByBytes(.equal, $0) })
      {
        // As it is, so that an index can be used; the value that null counts as is added afterwards.
        value = try column(path.level, reading)
        hasNull = constants.contains(reading.absent)
      } else {
        value = try self.value(expression)
      }
      var array = ArrayParameter(try value.kind.serverType())
      for constant in constants where !constant.isNull {
        if case .double(let number) = constant, number.isNaN { continue }
        if case .text(let text) = constant, text.utf8.contains(0) { throw NoSQL() }
        try array.append(constant, value.kind)
      }
      parameters.append(array)
      // A constant with a sign of its own is compared by its bits.
      let compared = value.kind == .unsigned ? value.sql : comparable(value)
      test = "\(compared) = ANY ($\(parameters.count))"
      null = nullTest(value)
    }
    return hasNull ? "(\(null) OR \(test))" : test
  }

  /// A select over the members of a list.
  private func members(
    _ list: QueryExpression.MemberList,
    _ selection: String,
    and test: QueryExpression? = nil
  ) throws -> String {
    guard list.owner.steps.isEmpty else { throw NoSQL() }
    let owner = levels[list.owner.level]
    let candidates = tables.tables(for: list.element.type)
    guard candidates.count == 1, let table = candidates.first else { throw NoSQL() }
    let alias = makeAlias()
    let membership: String
    if list.property.isDerivable {
      guard let inverse = list.property.inverse else { throw NoSQL() }
      membership =
        "\(alias).\(table.columns[inverse.ordinal].name.quotedName) = \(owner.alias).\(MappedTable.key)"
    } else {
      let column = try column(list.owner.level, list.property.ordinal)
      membership = "\(alias).\(MappedTable.key) = ANY (\(column.sql))"
    }
    levels.append((alias, table))
    defer { levels.removeLast() }
    let conditions = try [list.condition, test].compactMap(\.self).map {
      " AND \(try self.test($0, default: false))"
    }
    return
      "SELECT \(selection) FROM \(table.name) AS \(alias) WHERE \(membership)\(conditions.joined())"
  }

  private func makeAlias() -> String {
    aliasCount += 1
    return "r\(aliasCount)"
  }
}

// MARK: Pages

extension ExpressionSQL {
  /// The condition that the tested row comes behind a place in a sort.
  ///
  /// The bound of the first key is repeated by itself, so that an index of it is read from there on.
  private func behind(_ position: PagePosition) throws -> String {
    var condition = try tie(of: position)
    var bound = ""
    for (key, value) in zip(position.ordering.keys, position.values).reversed() {
      let own = try place(of: key, behind: value)
      condition = "(\(own.behind) OR \(own.equal) AND \(condition))"
      bound = own.from
    }
    return bound.isEmpty ? condition : "(\(bound) AND \(condition))"
  }

  /// The condition for rows with the same sort keys.
  private func tie(of position: PagePosition) throws -> String {
    let isForward = position.tieOrder == .forward
    switch position.tie {
    case .row(let row):
      let (alias, table) = levels[0]
      guard row.table == table.number else { return "\((table.number > row.table) == isForward)" }
      let name = append(.integer(Int64(bitPattern: row.rawValue)), .integer)
      return "\(alias).\(MappedTable.key) \(isForward ? ">" : "<") \(name)"
    // A model without a row comes after all that have one.
    case .unsaved: return "\(!isForward)"
    case .identifier: throw NoSQL()
    }
  }

  /// The conditions that a sort key of a row comes behind a value, is equal to it, and is one of both.
  private func place(
    of key: RowOrdering.Key,
    behind value: QueryValue
  ) throws -> (behind: String, equal: String, from: String) {
    guard case .column(let path, let reading) = key.source, !key.hasTextOrder,
      reading.kind.hasServerOrder
    else { throw NoSQL() }
    let own = try self.value(.column(path, reading))
    let isForward = key.order == .forward
    let isNull = own.isNullable ? "\(own.sql) IS NULL" : "false"
    // Nil comes first, and last in a reversed order.
    if value.isNull {
      return isForward
        ? ("NOT (\(isNull))", "(\(isNull))", "true") : ("false", "(\(isNull))", "(\(isNull))")
    }
    var tests = try place(
      of: own,
      value,
      isForward ? (.greater, .greaterOrEqual) : (.less, .lessOrEqual)
    )
    if !isForward, own.isNullable {
      tests.behind = "(\(tests.behind) OR \(isNull))"
      tests.from = "(\(tests.from) OR \(isNull))"
    }
    return tests
  }

  /// The same for a value that is not null, by the order of the server, to which NaN is the greatest number, as in a sort.
  private func place(
    of own: Value,
    _ value: QueryValue,
    _ relations: (behind: QueryExpression.Relation, from: QueryExpression.Relation)
  ) throws -> (behind: String, equal: String, from: String) {
    let sql = comparable(own)
    let parameter: String
    switch (own.kind, value) {
    case (.date, .double(let seconds)):
      return (
        try dateComparison(relations.behind, sql, seconds),
        try dateComparison(.equal, sql, seconds), try dateComparison(relations.from, sql, seconds)
      )
    case (.unsigned, .integer(let bits)): parameter = append(.integer(bits ^ .min), .integer)
    case (.text, .text(let text)):
      if text.utf8.contains(0) { throw NoSQL() }
      parameter = append(.text(text.precomposedStringWithCanonicalMapping), .text)
    case (.integer, .integer), (.uuid, .uuid), (.double, .double), (.float, .double):
      parameter = append(value, own.kind)
    default: throw NoSQL()
    }
    return (
      "\(sql) \(relations.behind.sign) \(parameter)", "\(sql) = \(parameter)",
      "\(sql) \(relations.from.sign) \(parameter)"
    )
  }
}

// MARK: Values

extension ExpressionSQL {
  /// The expression by which a sort key orders rows; `nil` if SQL cannot order as Swift does.
  func orderedValue(_ key: RowOrdering.Key) -> String? {
    let isForward = key.order == .forward
    switch key.source {
    case .identifier(let path):
      // Rows of one table: those of several are ordered by the names of their entities first.
      guard path.steps.isEmpty, let name = try? name(path) else { return nil }
      return isForward ? name : "\(name) DESC"
    case .column(let path, let reading):
      guard reading.kind.hasServerOrder,
        let value = try? value(.column(path, reading))
      else { return nil }
      // Nil comes first, and last in a reversed order. Where it does not occur, the order is that of an index.
      let (up, down) = value.isNullable ? (" NULLS FIRST", " DESC NULLS LAST") : ("", " DESC")
      return comparable(value) + (isForward ? up : down)
    }
  }

  /// A value that is measured, or by which rows are grouped.
  struct MeasuredValue {
    /// The value as it is stored.
    let sql: String
    /// The value as it is ordered.
    let comparable: String
    /// A value that is the same for equal ones, and equal to them.
    let key: String
  }

  /// A value that is measured; `nil` if SQL cannot express it.
  func measuredValue(_ expression: QueryExpression) -> MeasuredValue? {
    guard case .column = expression, let value = try? value(expression) else { return nil }
    let comparable = comparable(value)
    return MeasuredValue(
      sql: value.sql,
      comparable: comparable,
      // Texts are equal in several forms; what moves other values into their order would change them.
      key: value.kind == .text || value.kind == .url ? comparable : value.sql
    )
  }

  /// Adds a parameter with the names of rows.
  ///
  /// - Returns: The parameter's name.
  func append(_ rows: [Int64]) -> String {
    parameters.append(rows)
    return "$\(parameters.count)"
  }

  /// A value in SQL.
  private struct Value {
    let sql: String
    let kind: QueryKind
    let isNullable: Bool
  }

  /// The value of an expression.
  private func value(_ expression: QueryExpression, as kind: QueryKind? = nil) throws -> Value {
    switch expression {
    case .column(let path, let reading):
      return try value(path.steps[...], levels[path.level], reading)
    case .constant(let constant):
      guard let kind, !constant.isNull else { throw NoSQL() }
      if case .double(let number) = constant, number.isNaN { throw NoSQL() }
      // Dates of constants are compared by what lies around them.
      if kind == .date { throw NoSQL() }
      if case .text(let text) = constant, text.utf8.contains(0) { throw NoSQL() }
      return Value(sql: append(constant, kind), kind: kind, isNullable: false)
    case .count(let list):
      return Value(sql: "(\(try members(list, "count(*)")))", kind: .integer, isNullable: false)
    default: throw NoSQL()
    }
  }

  /// The value of an attribute at the end of some steps.
  private func value(
    _ steps: ArraySlice<RowPath.Step>,
    _ row: (alias: String, table: MappedTable),
    _ reading: ColumnReading
  ) throws -> Value {
    guard let step = steps.first else {
      let stored = try column(row, reading)
      if reading.enumeration == nil, reading.isOptional || !stored.isNullable { return stored }
      var sql = stored.sql
      if let enumeration = reading.enumeration {
        guard let known = enumeration.all else { throw NoSQL() }
        var array = ArrayParameter(try reading.kind.serverType())
        for value in known { try array.append(value, reading.kind) }
        parameters.append(array)
        sql = "CASE WHEN \(sql) = ANY ($\(parameters.count)) THEN \(sql) END"
      }
      if reading.isOptional { return Value(sql: sql, kind: stored.kind, isNullable: true) }
      let absent = append(reading.absent, reading.kind)
      return Value(sql: "COALESCE(\(sql), \(absent))", kind: stored.kind, isNullable: false)
    }
    guard let destination = step.property.destination else { throw NoSQL() }
    let candidates = tables.tables(for: destination)
    guard candidates.count == 1, let table = candidates.first else { throw NoSQL() }
    let reference = try column(row, step.property.ordinal)
    let alias = makeAlias()
    let inner = try value(steps.dropFirst(), (alias, table), reading)
    let found =
      "(SELECT \(inner.sql) FROM \(table.name) AS \(alias) WHERE \(alias).\(MappedTable.key) = \(reference.sql))"
    switch steps.absence {
    case .failure: throw NoSQL()
    case .null: return Value(sql: found, kind: inner.kind, isNullable: true)
    case .neutral:
      if reading.isOptional { return Value(sql: found, kind: inner.kind, isNullable: true) }
      let absent = append(reading.absent, reading.kind)
      return Value(sql: "COALESCE(\(found), \(absent))", kind: inner.kind, isNullable: false)
    }
  }

  /// The name of the row at the end of a path; null if there is none.
  private func name(_ path: RowPath) throws -> String {
    guard let last = path.steps.last else {
      return "\(levels[path.level].alias).\(MappedTable.key)"
    }
    if path.steps.contains(where: { $0.absence == .failure }) { throw NoSQL() }
    var row = levels[path.level]
    var opening = ""
    var closing = ""
    for step in path.steps.dropLast() {
      guard let destination = step.property.destination else { throw NoSQL() }
      let candidates = tables.tables(for: destination)
      guard candidates.count == 1, let table = candidates.first else { throw NoSQL() }
      let reference = try column(row, step.property.ordinal)
      let alias = makeAlias()
      opening += "(SELECT "
      closing =
        " FROM \(table.name) AS \(alias) WHERE \(alias).\(MappedTable.key) = \(reference.sql))"
        + closing
      row = (alias, table)
    }
    let stored = opening + (try column(row, last.property.ordinal).sql) + closing
    // Without an inverse, the name stays when the row goes.
    if last.property.inverse != nil { return stored }
    let destinations = last.property.destination.map(tables.tables) ?? []
    if destinations.isEmpty { throw NoSQL() }
    let found = destinations.map { table in
      let alias = makeAlias()
      let name = "\(alias).\(MappedTable.key)"
      return "(SELECT \(name) FROM \(table.name) AS \(alias) WHERE \(name) = \(stored))"
    }
    return found.count == 1 ? found[0] : "COALESCE(\(found.joined(separator: ", ")))"
  }

  private func column(_ level: Int, _ reading: ColumnReading) throws -> Value {
    try column(levels[level], reading)
  }

  private func column(
    _ row: (alias: String, table: MappedTable),
    _ reading: ColumnReading
  ) throws -> Value {
    let column = try column(row, reading.column)
    let isPresent = row.alias == levels[0].alias && reading.column == presentColumn
    return Value(sql: column.sql, kind: reading.kind, isNullable: !isPresent)
  }

  private func column(_ level: Int, _ position: Int) throws -> (
    sql: String, kind: MappedColumn.Kind
  ) {
    try column(levels[level], position)
  }

  private func column(
    _ row: (alias: String, table: MappedTable),
    _ position: Int
  ) throws -> (sql: String, kind: MappedColumn.Kind) {
    // A row of a class that lacks the property does not match.
    guard position < row.table.descriptor.properties.count else { throw NoSQL() }
    let column = row.table.columns[position]
    return ("\(row.alias).\(column.name.quotedName)", column.kind)
  }

  /// A value as it is compared: text in its normal form, integers without a sign moved into the range of those with one.
  private func comparable(_ value: Value) -> String {
    switch value.kind {
    case .text, .url: SQLColumn.ordered(value.sql, .text)
    case .unsigned: "(\(value.sql) # \(Int64.min))"
    default: value.sql
    }
  }

  private func append(_ value: QueryValue, _ kind: QueryKind) -> String {
    switch value {
    case .bool(let value): parameters.append(value)
    case .integer(let value): parameters.append(value)
    case .double(let seconds) where kind == .date:
      if let microseconds = PostgresDate.microseconds(since2001: seconds) {
        parameters.append(timestamp: microseconds)
      } else {
        parameters.appendNull(.timestamp)
      }
    case .double(let value): parameters.append(value)
    case .text(let value): parameters.append(value)
    case .uuid(let value):
      parameters.append(.uuid) {
        $0.appendBigEndian(value.low.byteSwapped)
        $0.appendBigEndian(value.high.byteSwapped)
      }
    case .bytes(let value): parameters.append(value)
    default: parameters.appendNull(.text)
    }
    return "$\(parameters.count)"
  }

  private func reference(_ constant: QueryValue) -> RowReference? {
    switch constant {
    case .reference(let reference): return reference == .none ? nil : reference
    case .identifier(let identifier):
      return tables.reference(of: identifier, inStore: storeIdentifier)
    default: return nil
    }
  }
}

extension ArraySlice<RowPath.Step> {
  /// The value of a read if the first of the steps leads to no row.
  fileprivate var absence: RowPath.Absence {
    first { $0.absence != .neutral }?.absence ?? .neutral
  }
}

extension QueryExpression.Relation {
  fileprivate var sign: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }

  /// The relation that says the same with the sides exchanged.
  fileprivate var mirrored: QueryExpression.Relation {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

extension QueryKind {
  /// Whether the server orders such values as Swift does.
  fileprivate var hasServerOrder: Bool {
    switch self {
    case .integer, .unsigned, .double, .float, .date, .uuid, .text: true
    case .bool, .url, .bytes, .identifier: false
    }
  }

  fileprivate func serverType() throws -> ServerType {
    switch self {
    case .bool: .bool
    case .integer, .unsigned: .bigint
    case .double, .float: .double
    case .uuid: .uuid
    case .text, .url: .text
    case .bytes: .bytea
    case .date, .identifier: throw DataStoreError.preferInMemoryFilter
    }
  }
}

extension ArrayParameter {
  fileprivate mutating func append(_ value: QueryValue, _ kind: QueryKind) throws {
    switch value {
    case .bool(let value): append(.bool) { $0.append(value ? 1 : 0) }
    case .integer(let value): append(value)
    case .double(let value): append(.double) { $0.appendBigEndian(value.bitPattern) }
    case .text(let value):
      append(.text) { $0.append(contentsOf: value.precomposedStringWithCanonicalMapping.utf8) }
    case .uuid(let value):
      append(.uuid) {
        $0.appendBigEndian(value.low.byteSwapped)
        $0.appendBigEndian(value.high.byteSwapped)
      }
    case .bytes(let value): append(.bytea) { $0.append(contentsOf: value) }
    default: throw DataStoreError.preferInMemoryFilter
    }
  }
}
#endif
