import Foundation

extension QueryExpression {
  /// The expression as predicate source, for people to read.
  package var sourceText: String { text(Precedence.or) }

  /// The precedence of an operator, as in Swift.
  private enum Precedence: Int, Comparable {
    case or, and, comparison, coalescing, addition, multiplication, unary

    static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// The text, in parentheses if it binds less tightly than its context.
  private func text(_ outer: Precedence) -> String {
    func bound(_ own: Precedence, _ text: String) -> String { own < outer ? "(\(text))" : text }
    switch self {
    case .constant(let value): return value.sourceText
    case .constants(let values): return "[\(QueryExpression.list(values))]"
    case .range(let bounds):
      let upper = bounds.upper?.text(.unary) ?? ""
      return "\(bounds.lower?.text(.unary) ?? "")\(bounds.includesUpper ? "..." : "..<")\(upper)"
    case .column(let path, let reading): return path.name(ofColumn: reading.column)
    case .structured(let path, let reading): return path.name(ofColumn: reading.column)
    case .identifier(let path): return path.name(followedBy: "persistentModelID")
    case .row(let path): return path.name(followedBy: nil)
    case .castRow(let path, let type):
      return "(\(path.name(followedBy: nil)) as? \(type.entityName))"
    case .list(let list): return QueryExpression.text(list)
    case .comparison(let relation, let lhs, let rhs, _):
      return bound(
        .comparison,
        "\(lhs.text(.coalescing)) \(relation.sourceText) \(rhs.text(.coalescing))"
      )
    case .membership(let value, let constants):
      return "[\(QueryExpression.list(constants))].contains(\(value.text(.or)))"
    case .isNull(let value): return bound(.comparison, "\(value.text(.coalescing)) == nil")
    case .isKind(let path, let type):
      return bound(.comparison, "\(path.name(followedBy: nil)) is \(type.entityName)")
    case .not(let operand): return "!\(operand.text(.unary))"
    case .and(let lhs, let rhs): return bound(.and, "\(lhs.text(.and)) && \(rhs.text(.and))")
    case .or(let lhs, let rhs): return bound(.or, "\(lhs.text(.or)) || \(rhs.text(.or))")
    case .text(let question, let text, let other):
      return "\(text.text(.unary)).\(question.name)(\(other.text(.or)))"
    case .exists(let list, let test):
      return "\(QueryExpression.text(list)).contains { \(test.text(.or)) }"
    case .behind(let position):
      return "behind(\(QueryExpression.list(position.values)))"
    case .conditional(let condition, let then, let otherwise):
      return "(\(condition.text(.and)) ? \(then.text(.or)) : \(otherwise.text(.or)))"
    case .coalesce(let value, let other):
      return bound(.coalescing, "\(value.text(.addition)) ?? \(other.text(.coalescing))")
    case .ifPresent(_, let then): return then.text(outer)
    case .unwrapped(let value): return "\(value.text(.unary))!"
    case .arithmetic(let operation, let lhs, let rhs, _):
      let own: Precedence =
        operation == .add || operation == .subtract ? .addition : .multiplication
      // Operators of equal precedence are left-associative.
      let right: Precedence = own == .addition ? .multiplication : .unary
      return bound(own, "\(lhs.text(own)) \(operation.sourceText) \(rhs.text(right))")
    case .textComparison(let comparison, let lhs, let rhs):
      return "\(lhs.text(.unary)).\(comparison.name)(\(rhs.text(.or)))"
    case .count(let list): return "\(QueryExpression.text(list)).count"
    case .mapped(let value, let function): return "\(value.text(.unary)).\(function.name)"
    case .combined(let lhs, let rhs, let function):
      return "\(function.name)(\(lhs.text(.or)), \(rhs.text(.or)))"
    }
  }

  private static func text(_ list: MemberList) -> String {
    let name = list.owner.name(followedBy: list.property.name)
    return list.condition.map { "\(name).filter { \($0.text(.or)) }" } ?? name
  }

  /// A list of the first few values.
  private static func list(_ values: [QueryValue]) -> String {
    let shown = values.prefix(8).map(\.sourceText).joined(separator: ", ")
    return values.count > 8 ? "\(shown), … \(values.count) values" : shown
  }
}

extension QueryExpression.Relation {
  fileprivate var sourceText: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension QueryExpression.Arithmetic {
  fileprivate var sourceText: String {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .remainder: "%"
    }
  }
}

extension QueryExpression.TextTest {
  fileprivate var name: String {
    switch self {
    case .contains: "contains"
    case .startsWith: "starts"
    case .localizedStandardContains: "localizedStandardContains"
    case .equalsIgnoringCase: "equalsIgnoringCase"
    }
  }
}

extension QueryExpression.TextComparison {
  fileprivate var name: String {
    switch self {
    case .caseInsensitive: "caseInsensitiveCompare"
    case .localized: "localizedCompare"
    }
  }
}

extension RowOrdering.Source {
  /// The sort key as a path from the row.
  var name: String {
    switch self {
    case .column(let path, let reading): path.name(ofColumn: reading.column)
    case .identifier(let path): path.name(followedBy: "persistentModelID")
    }
  }
}

extension RowPath {
  /// The path to a property of the row at its end.
  func name(ofColumn column: Int) -> String {
    name(followedBy: descriptor.properties.first { $0.ordinal == column }?.name ?? "(\(column))")
  }

  /// The path with a name after it; of the tested row, the name alone.
  func name(followedBy last: String?) -> String {
    let names = steps.map(\.property.name) + (last.map { [$0] } ?? [])
    let path = names.joined(separator: ".")
    if level == 0 { return path.isEmpty ? "self" : path }
    let element = "$\(level - 1)"
    return path.isEmpty ? element : "\(element).\(path)"
  }
}

extension QueryValue {
  /// The value as a literal, cut if it is long.
  fileprivate var sourceText: String {
    switch self {
    case .null: return "nil"
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .double(let value): return "\(value)"
    case .uuid(let value): return UUID(queryValue: .uuid(value))?.uuidString ?? "\(value)"
    case .text(let text):
      let cut = text.count > 40 ? "\(text.prefix(39))…" : text
      return cut.debugDescription
    case .bytes(let data): return "(\(data.count) bytes)"
    case .identifier(let identifier): return "\(identifier)"
    case .reference(let reference): return "\(reference)"
    case .opaque: return "(value)"
    }
  }
}
