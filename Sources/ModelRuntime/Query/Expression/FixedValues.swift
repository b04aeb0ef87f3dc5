import RowFormat

/// The values that a condition fixes of a row's own attributes.
struct FixedValues {
  /// The attributes' columns, ascending.
  private(set) var columns: [Int] = []
  /// Their values, in the same order; none is null.
  private(set) var values: [QueryValue] = []

  /// Fixes a column's value, unless it is fixed already.
  fileprivate mutating func fix(_ column: Int, to value: QueryValue) -> Bool {
    let place = columns.firstIndex { $0 >= column } ?? columns.count
    if place < columns.count, columns[place] == column { return false }
    columns.insert(column, at: place)
    values.insert(value, at: place)
    return true
  }
}

extension QueryExpression {
  /// Takes the equalities that fix attributes of the tested row out of the condition.
  ///
  /// - Parameters:
  ///   - type: The class of the rows.
  ///   - fixed: Receives the values.
  /// - Returns: The rest; `nil` if nothing else is left.
  func takingFixedValues(of type: ModelDescriptor, _ fixed: inout FixedValues) -> QueryExpression? {
    switch self {
    case .and(let lhs, let rhs):
      let lhs = lhs.takingFixedValues(of: type, &fixed)
      let rhs = rhs.takingFixedValues(of: type, &fixed)
      guard let lhs, let rhs else { return lhs ?? rhs }
      return .and(lhs, rhs)
    case .comparison(.equal, .column(let path, let reading), .constant(let value), let kind),
      .comparison(.equal, .constant(let value), .column(let path, let reading), let kind):
      // In a class other than the predicate's, columns have other meanings.
      guard path.isOfTestedRow, type.isKind(of: path.descriptor), kind == reading.kind,
        reading.absent.isNull || !reading.isOptional, value.isToldByHash(kind),
        fixed.fix(reading.column, to: value)
      else { return self }
      return nil
    default: return self
    }
  }
}

extension QueryValue {
  /// Whether values of a kind equal this one in a predicate exactly if they equal it here.
  fileprivate func isToldByHash(_ kind: QueryKind) -> Bool {
    switch (kind, self) {
    case (.bool, .bool), (.integer, .integer), (.unsigned, .integer), (.text, .text),
      (.uuid, .uuid), (.double, .double), (.float, .double), (.date, .double):
      true
    default: false
    }
  }
}
