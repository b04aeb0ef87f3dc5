package import RowFormat

/// A predicate or a part of one, over columns of rows: the form that a store evaluates, bounds and prunes by.
///
/// Its result is that of `Predicate.evaluate` on the objects of those rows. A value may be null, where the
/// user's code has an optional; an evaluation may fail, where the user's code would trap or throw, and then
/// the row does not match.
package indirect enum QueryExpression: Sendable {
  // MARK: Values
  case constant(QueryValue)
  /// The elements of a sequence that the user captured.
  case constants([QueryValue])
  case range(Bounds)
  /// An attribute of the row at the end of a path.
  case column(RowPath, ColumnReading)
  /// An attribute that only its Swift type understands.
  case structured(RowPath, StructuredReading)
  /// The name of the row at the end of a path.
  case identifier(RowPath)
  /// The row at the end of a path, as a whole: present, or not.
  case row(RowPath)
  /// A row, null unless it belongs to a class.
  case castRow(RowPath, to: ModelDescriptor)
  /// The members of a to-many relationship.
  case list(MemberList)

  // MARK: Tests
  case comparison(Relation, QueryExpression, QueryExpression, QueryKind)
  /// Whether a value is one of some constants.
  case membership(QueryExpression, [QueryValue])
  case isNull(QueryExpression)
  case isKind(RowPath, of: ModelDescriptor)
  case not(QueryExpression)
  case and(QueryExpression, QueryExpression)
  case or(QueryExpression, QueryExpression)
  case text(TextTest, QueryExpression, QueryExpression)
  /// Whether some member of a list passes a test, which applies to the next level of rows.
  case exists(MemberList, where: QueryExpression)
  /// Whether the tested row comes after a position in a sort; a part of the whole predicate, never of a closure.
  case behind(PagePosition)

  // MARK: Computing
  case conditional(QueryExpression, then: QueryExpression, else: QueryExpression)
  case coalesce(QueryExpression, QueryExpression)
  /// The second value if the first is not null, otherwise null.
  case ifPresent(QueryExpression, QueryExpression)
  /// The value, which must not be null.
  case unwrapped(QueryExpression)
  case arithmetic(Arithmetic, QueryExpression, QueryExpression, QueryKind)
  /// The order of two texts, as the raw value of a `ComparisonResult`.
  case textComparison(TextComparison, QueryExpression, QueryExpression)
  /// The number of a list's members that pass its condition.
  case count(MemberList)
  case mapped(QueryExpression, ValueMap)
  case combined(QueryExpression, QueryExpression, ValueCombination)
}

extension QueryExpression {
  /// A comparison of two values.
  package enum Relation: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The relation with its sides exchanged.
    var mirrored: Relation {
      switch self {
      case .equal, .notEqual: self
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      }
    }
  }

  /// The ends of a range, if it has them.
  package struct Bounds: Sendable {
    package let lower: QueryExpression?
    package let upper: QueryExpression?
    package let includesUpper: Bool
  }

  package enum Arithmetic: Sendable { case add, subtract, multiply, divide, remainder }

  /// A test of a text with another.
  package enum TextTest: Sendable {
    case contains, startsWith, localizedStandardContains, equalsIgnoringCase
  }

  package enum TextComparison: Sendable { case caseInsensitive, localized }

  /// A function of one value.
  ///
  /// Unchecked, because its closure may hold types and key paths, which are sendable but not declared so.
  package struct ValueMap: @unchecked Sendable {
    package let name: String
    /// Whether the function is also called with null, as a property of an optional is; otherwise null gives null.
    private let takesNull: Bool
    private let function: (QueryValue) -> QueryValue

    init(name: String, takesNull: Bool = false, _ function: @escaping (QueryValue) -> QueryValue) {
      self.name = name
      self.takesNull = takesNull
      self.function = function
    }

    func apply(_ value: QueryValue) -> QueryValue {
      value.isNull && !takesNull ? .null : function(value)
    }

    static let textCount = ValueMap(name: "count") { value in
      if case .text(let text) = value { .integer(Int64(text.count)) } else { .null }
    }
    static let textIsEmpty = ValueMap(name: "isEmpty") { value in
      if case .text(let text) = value { .bool(text.isEmpty) } else { .null }
    }
  }

  /// A function of two values.
  ///
  /// Unchecked for the same reason.
  package struct ValueCombination: @unchecked Sendable {
    package let name: String
    let apply: (QueryValue, QueryValue) -> QueryValue
  }

  /// The members of a to-many relationship, or those that pass a condition.
  package struct MemberList: Sendable {
    /// The owner of the list.
    package let owner: RowPath
    package let property: ModelProperty
    package let element: ModelDescriptor
    /// A condition on the next level of rows.
    package var condition: QueryExpression?
  }

  static func bool(_ value: Bool) -> QueryExpression { .constant(.bool(value)) }
}

extension QueryExpression {
  /// The subexpressions.
  package var children: [QueryExpression] {
    switch self {
    case .constant, .constants, .column, .structured, .identifier, .row, .castRow, .isKind, .behind:
      []
    case .range(let bounds): [bounds.lower, bounds.upper].compactMap { $0 }
    case .list(let list), .count(let list): list.condition.map { [$0] } ?? []
    case .exists(let list, let test): [test] + (list.condition.map { [$0] } ?? [])
    case .membership(let value, _), .isNull(let value), .not(let value), .unwrapped(let value),
      .mapped(let value, _):
      [value]
    case .comparison(_, let lhs, let rhs, _), .arithmetic(_, let lhs, let rhs, _),
      .text(_, let lhs, let rhs), .textComparison(_, let lhs, let rhs), .and(let lhs, let rhs),
      .or(let lhs, let rhs), .coalesce(let lhs, let rhs), .ifPresent(let lhs, let rhs),
      .combined(let lhs, let rhs, _):
      [lhs, rhs]
    case .conditional(let test, let then, let otherwise): [test, then, otherwise]
    }
  }

  /// The paths that the expression follows itself, besides its subexpressions.
  var ownPaths: [RowPath] {
    switch self {
    case .column(let path, _), .structured(let path, _), .identifier(let path), .row(let path),
      .castRow(let path, _), .isKind(let path, _):
      [path]
    case .list(let list), .count(let list), .exists(let list, _): [list.owner]
    case .behind(let position):
      position.ordering.keys.map { key in
        switch key.source {
        case .column(let path, _), .identifier(let path): path
        }
      }
    default: []
    }
  }

  /// The columns of the tested row that the expression looks at; `nil` if they are not known.
  ///
  /// They are known where it looks at attributes of this row, or of those that it refers to.
  package var testedColumns: ColumnSet? {
    var columns = ColumnSet()
    switch self {
    case .structured, .castRow, .isKind, .list, .exists, .count, .behind: return nil
    case .column(let path, let reading):
      guard path.level == 0 else { return nil }
      columns.insert(path.steps.first?.property.ordinal ?? reading.column)
    case .identifier(let path), .row(let path):
      guard path.level == 0 else { return nil }
      if let step = path.steps.first { columns.insert(step.property.ordinal) }
    default: break
    }
    for child in children {
      guard let more = child.testedColumns else { return nil }
      columns.formUnion(more)
    }
    return columns
  }

  /// Whether some part of the expression applies to the rows of a list.
  var hasClosure: Bool {
    switch self {
    case .exists: true
    case .list(let list), .count(let list): list.condition != nil
    default: children.contains(where: \.hasClosure)
    }
  }
}
