import RowFormat

/// Values of a column, one of which a model must have to match.
struct UnsavedLookup {
  let column: Int
  let values: [QueryValue]

  /// Maximum number of models that are tested one by one.
  static let smallCount = 16
}

extension QueryExpression {
  /// Values of columns, of one of which a model of a class needs one to match; `nil` if the expression names none.
  func valueLookups(of type: ModelDescriptor) -> [UnsavedLookup]? {
    if let lookup = valueLookup(of: type) ?? flagLookup(of: type) { return [lookup] }
    switch self {
    case .and(let lhs, let rhs): return lhs.valueLookups(of: type) ?? rhs.valueLookups(of: type)
    case .or(let lhs, let rhs):
      guard let lhs = lhs.valueLookups(of: type), let rhs = rhs.valueLookups(of: type) else {
        return nil
      }
      return lhs + rhs
    default: return nil
    }
  }

  /// The values that a model of a class needs to match; `nil` if the expression names none.
  func valueLookup(of type: ModelDescriptor) -> UnsavedLookup? {
    switch self {
    case .and(let lhs, let rhs): lhs.valueLookup(of: type) ?? rhs.valueLookup(of: type)
    case .comparison(.equal, .column(let path, let reading), .constant(let constant), _),
      .comparison(.equal, .constant(let constant), .column(let path, let reading), _):
      UnsavedLookup(path, reading, [constant], of: type)
    case .membership(.column(let path, let reading), let constants):
      UnsavedLookup(path, reading, constants, of: type)
    // Null does not match, so the value has to be true.
    case .ifPresent(_, let test), .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), _):
      test.valueLookup(of: type)
    default: nil
    }
  }

  /// The value of a flag that a model of a class needs to match, where the flag itself is a part of the expression.
  ///
  /// Half of all models may have it, so any other value is looked up rather than this one.
  fileprivate func flagLookup(of type: ModelDescriptor) -> UnsavedLookup? {
    switch self {
    case .and(let lhs, let rhs): lhs.flagLookup(of: type) ?? rhs.flagLookup(of: type)
    case .column(let path, let reading) where reading.kind == .bool:
      UnsavedLookup(path, reading, [.bool(true)], of: type)
    case .not(.column(let path, let reading)) where reading.kind == .bool:
      UnsavedLookup(path, reading, [.bool(false)], of: type)
    default: nil
    }
  }
}

extension UnsavedLookup {
  fileprivate init?(
    _ path: RowPath,
    _ reading: ColumnReading,
    _ values: [QueryValue],
    of type: ModelDescriptor
  ) {
    // In a class other than the predicate's, columns have other meanings.
    guard path.level == 0, path.steps.isEmpty, type.isKind(of: path.descriptor) else { return nil }
    self.init(column: reading.column, values: values)
  }
}
