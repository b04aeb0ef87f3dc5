import LogEngine
import RowFormat
import Terminal

/// A condition about the columns of one table, its values brought to their types.
indirect enum BoundCondition {
  case all([BoundCondition])
  case any([BoundCondition])
  case not(BoundCondition)
  case constant(Bool)
  case comparison(Operand, Condition.Relation, Operand)
  case membership(Int, Set<Datum>)
  case text(Int, Condition.TextTest, String, ignoresCase: Bool)
  case flag(Int)

  enum Operand {
    case column(Int)
    case value(Datum)
  }

  /// Whether a row matches.
  ///
  /// A comparison with null holds for no row, except for `==` and `!=`, as in Swift.
  func matches(_ value: (Int) -> Datum) -> Bool {
    switch self {
    case .all(let parts): parts.allSatisfy { $0.matches(value) }
    case .any(let parts): parts.contains { $0.matches(value) }
    case .not(let part): !part.matches(value)
    case .constant(let constant): constant
    case .flag(let column): value(column) == .bool(true)
    case .membership(let column, let values): values.contains(value(column))
    case .text(let column, let test, let text, let ignoresCase):
      switch value(column) {
      case .text(let own): test.holds(ignoresCase ? own.lowercased() : own, text)
      default: false
      }
    case .comparison(let lhs, let relation, let rhs):
      relation.holds(lhs.datum(value), rhs.datum(value))
    }
  }
}

extension BoundCondition.Operand {
  fileprivate func datum(_ value: (Int) -> Datum) -> Datum {
    switch self {
    case .column(let number): value(number)
    case .value(let datum): datum
    }
  }
}

extension Condition.Relation {
  fileprivate func holds(_ lhs: Datum, _ rhs: Datum) -> Bool {
    if lhs == .null || rhs == .null {
      switch self {
      case .equal: return lhs == rhs
      case .notEqual: return lhs != rhs
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return false
      }
    }
    // A value that is not a number is equal to nothing, and in no order.
    if lhs.number?.isNaN ?? false || rhs.number?.isNaN ?? false { return self == .notEqual }
    guard let order = lhs.order(rhs) else { return self == .notEqual }
    return switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension Condition.TextTest {
  fileprivate func holds(_ text: String, _ part: String) -> Bool {
    switch self {
    case .contains: part.isEmpty || text.contains(part)
    case .startsWith: text.hasPrefix(part)
    case .endsWith: text.hasSuffix(part)
    }
  }
}

// MARK: Binding

/// Brings a condition to the columns of a table.
struct ConditionBinder {
  private let text: String
  private let store: InspectedStore
  private let table: TableDefinition

  /// Reads a condition about the rows of a table.
  ///
  /// - Parameters:
  ///   - text: The condition.
  ///   - reader: Reads the columns that it names, from now on.
  ///   - table: The table.
  ///   - store: The store.
  /// - Returns: The condition.
  /// - Throws: ``WhereError`` for a text that cannot be understood, for an unknown column, or for a value of another type.
  static func bind(
    _ text: String,
    _ reader: inout ColumnReader,
    _ table: TableDefinition,
    in store: InspectedStore
  ) throws(WhereError) -> BoundCondition {
    let binder = ConditionBinder(text: text, store: store, table: table)
    return try binder.bind(try ConditionParser.condition(text), &reader)
  }

  private func bind(
    _ condition: Condition,
    _ reader: inout ColumnReader
  ) throws(WhereError) -> BoundCondition {
    switch condition {
    case .all(let parts): return .all(try bind(parts, &reader))
    case .any(let parts): return .any(try bind(parts, &reader))
    case .not(let part): return .not(try bind(part, &reader))
    case .comparison(let lhs, let relation, let rhs):
      return try comparison(lhs, relation, rhs, &reader)
    case .membership(let operand, let literals):
      let column = try column(operand, &reader)
      var values: Set<Datum> = []
      for literal in literals { values.insert(try value(literal, of: column, reader)) }
      return .membership(column, values)
    case .range(let operand, let lower, let upper, let includesUpper):
      let column = try column(operand, &reader)
      try checkOrder(of: column, operand, reader)
      let (least, greatest) = (
        try value(lower, of: column, reader), try value(upper, of: column, reader)
      )
      return .all([
        .comparison(.column(column), .greaterOrEqual, .value(least)),
        .comparison(.column(column), includesUpper ? .lessOrEqual : .less, .value(greatest)),
      ])
    case .text(let operand, let test, let literal, let ignoresCase):
      let column = try column(operand, &reader)
      guard reader.type(of: column) == .text else {
        throw error(operand.token, expected: "a column of texts", describe(column, reader))
      }
      guard case .text(let text) = literal.value else {
        throw error(literal.token, expected: "a text between quotes")
      }
      return .text(column, test, ignoresCase ? text.lowercased() : text, ignoresCase: ignoresCase)
    case .flag(let operand):
      if case .literal(let literal) = operand, case .bool(let value) = literal.value {
        return .constant(value)
      }
      let column = try column(operand, &reader)
      guard reader.type(of: column) == .bool else {
        throw error(
          operand.token,
          expected: "a relation behind \(operand.token.source), or a column that is true or false",
          describe(column, reader)
        )
      }
      return .flag(column)
    }
  }

  private func bind(
    _ parts: [Condition],
    _ reader: inout ColumnReader
  ) throws(WhereError) -> [BoundCondition] {
    var bound: [BoundCondition] = []
    for part in parts { bound.append(try bind(part, &reader)) }
    return bound
  }

  private func comparison(
    _ lhs: Condition.Operand,
    _ relation: Condition.Relation,
    _ rhs: Condition.Operand,
    _ reader: inout ColumnReader
  ) throws(WhereError) -> BoundCondition {
    switch (lhs, rhs) {
    case (.literal, .literal):
      throw error(lhs.token, expected: "a column on one side of the relation")
    case (.column, .literal(let literal)):
      let column = try column(lhs, &reader)
      return try comparison(column, lhs, relation, literal, reader)
    case (.literal(let literal), .column):
      let column = try column(rhs, &reader)
      return try comparison(column, rhs, relation.mirrored, literal, reader)
    case (.column, .column):
      let (left, right) = (try column(lhs, &reader), try column(rhs, &reader))
      guard reader.kind(of: left) == reader.kind(of: right), reader.kind(of: left) != .opaque
      else {
        throw error(
          rhs.token,
          expected: "a column that can be compared with \(describe(left, reader))",
          describe(right, reader)
        )
      }
      return .comparison(.column(left), relation, .column(right))
    }
  }

  private func comparison(
    _ column: Int,
    _ operand: Condition.Operand,
    _ relation: Condition.Relation,
    _ literal: Condition.Literal,
    _ reader: ColumnReader
  ) throws(WhereError) -> BoundCondition {
    let isEquality = relation == .equal || relation == .notEqual
    if literal.value == .null {
      guard isEquality else {
        throw error(literal.token, expected: "a value: nil is in no order, only == and !=")
      }
      return .comparison(.column(column), relation, .value(.null))
    }
    if !isEquality { try checkOrder(of: column, operand, reader) }
    let value = try value(literal, of: column, reader)
    return .comparison(.column(column), relation, .value(value))
  }

  private func checkOrder(
    of column: Int,
    _ operand: Condition.Operand,
    _ reader: ColumnReader
  ) throws(WhereError) {
    switch reader.kind(of: column) {
    case .number, .date, .text, .uuid: return
    case .bool, .reference, .opaque:
      throw error(
        operand.token,
        expected: "a column with an order: of numbers, dates, texts or UUIDs",
        describe(column, reader)
      )
    }
  }

  private func column(
    _ operand: Condition.Operand,
    _ reader: inout ColumnReader
  ) throws(WhereError) -> Int {
    guard case .column(let name, let token) = operand else {
      throw error(operand.token, expected: "a column")
    }
    if let number = reader.number(ofColumn: name) { return number }
    let names = store.askableNames(of: table)
    throw WhereError(
      text: text,
      position: token.position,
      expected: "a column of \(table.name): \(names.joined(separator: ", "))",
      found: token.source,
      advice: NearestName.of(name, among: names).map { "\($0)?" }
        ?? "a text stands between quotes: \"\(name)\""
    )
  }

  /// A literal as a value of a column.
  private func value(
    _ literal: Condition.Literal,
    of column: Int,
    _ reader: ColumnReader
  ) throws(WhereError) -> Datum {
    if literal.value == .null { return .null }
    let parsed: Datum? =
      switch (reader.kind(of: column), literal.value) {
      case (.number, .integer(let value)): .integer(value)
      case (.number, .unsigned(let value)): .unsigned(value)
      case (.number, .double(let value)): .double(value)
      case (.bool, .bool(let value)): .bool(value)
      case (.text, .text(let value)): .text(value)
      case (.date, .text(let value)): Timestamp(value).map { .date($0.seconds) }
      case (.uuid, .text(let value)): Datum(uuid: value)
      case (.reference, .text(let value)): store.reference(named: value).map(Datum.reference)
      default: nil
      }
    if let parsed {
      // A column of doubles has no integers: equal values have to be equal data.
      if reader.type(of: column) == .double, let number = parsed.number {
        return .double(reader.numbers(column)?.compared(number) ?? number)
      }
      return parsed
    }
    throw error(
      literal.token,
      expected: "\(reader.kind(of: column).example), for \(describe(column, reader))"
    )
  }

  private func describe(_ column: Int, _ reader: ColumnReader) -> String {
    "\(reader.name(of: column)), \(reader.kind(of: column).phrase(reader.type(of: column)))"
  }

  private func error(
    _ token: WhereToken,
    expected: String,
    _ found: String? = nil
  ) -> WhereError {
    WhereError(
      text: text,
      position: token.position,
      expected: expected,
      found: found ?? token.found
    )
  }
}

extension Condition.Relation {
  /// The relation that says the same with the sides exchanged.
  fileprivate var mirrored: Self {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// The kind of values that a column can be compared with.
enum ColumnKind: Equatable {
  case number, bool, date, text, uuid, reference
  /// Values that can only be compared with null.
  case opaque

  init(_ type: ColumnType?) {
    switch type {
    case nil, .integer, .double: self = .number
    case .bool: self = .bool
    case .date: self = .date
    case .text: self = .text
    case .uuid: self = .uuid
    case .reference: self = .reference
    case .references, .bytes, .blob, .structured: self = .opaque
    }
  }

  fileprivate var example: String {
    switch self {
    case .number: "a number"
    case .bool: "true or false"
    case .date: "a date such as \"2024-02-29\" or \"2024-02-29T12:00:00Z\""
    case .text: "a text between quotes"
    case .uuid: "a UUID between quotes"
    case .reference: "a row such as \"Trip/17\""
    case .opaque: "nil"
    }
  }

  fileprivate func phrase(_ type: ColumnType?) -> String {
    switch self {
    case .number: "a number"
    case .bool: "true or false"
    case .date: "a date"
    case .text: "a text"
    case .uuid: "a UUID"
    case .reference: "a reference"
    case .opaque: "\(type.map { "\($0)" } ?? "a value"), which can only be compared with nil"
    }
  }
}

extension ColumnReader {
  func kind(of column: Int) -> ColumnKind { ColumnKind(type(of: column)) }
}

extension Datum {
  /// A UUID in its text form, `nil` if it is none.
  init?(uuid text: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text where character != "-" {
      guard character.isASCII, let digit = character.hexDigitValue else { return nil }
      if let first = high {
        bytes.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    guard bytes.count == 16, high == nil, text.count == 32 || text.count == 36 else { return nil }
    func word(_ range: Range<Int>) -> UInt64 {
      bytes[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    self = .uuid(word(0..<8), word(8..<16))
  }
}

extension InspectedStore {
  /// The row that a text such as `Trip/17` names; `nil` if it names none.
  func reference(named text: String) -> RowReference? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let table = catalogue.table(named: String(parts[0])),
      let key = UInt64(parts[1]), key <= RowReference.maximumKey
    else { return nil }
    return RowReference(table: table.number, key: key)
  }
}
