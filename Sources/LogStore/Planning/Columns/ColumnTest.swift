import LogEngine

/// A predicate over columns: it narrows a selection down, many rows at a time.
///
/// It agrees with a ``RowFilter`` of the same predicate on every row. One thread uses it at a time: tests of texts
/// remember their answers for a dictionary.
indirect enum ColumnTest {
  case all
  case none
  case column(ColumnCondition)
  case not(ColumnTest)
  case and(ColumnTest, ColumnTest)
  case or(ColumnTest, ColumnTest)

  /// Drops the rows that do not pass.
  ///
  /// - Throws: ``StorageError`` for a column that is damaged.
  func narrow(_ rows: inout RowSelection, of batch: borrowing ColumnBatch) throws {
    switch self {
    case .all: return
    case .none: rows.removeAll()
    case .column(let condition): try condition.narrow(&rows, of: batch)
    case .not(let test):
      var passing = rows
      try test.narrow(&passing, of: batch)
      rows.subtract(passing)
    case .and(let lhs, let rhs):
      try lhs.narrow(&rows, of: batch)
      // The other side's columns need not be decoded needlessly.
      if !rows.isEmpty { try rhs.narrow(&rows, of: batch) }
    case .or(let lhs, let rhs):
      var passing = rows
      try lhs.narrow(&passing, of: batch)
      rows.subtract(passing)
      if !rows.isEmpty { try rhs.narrow(&rows, of: batch) }
      rows.formUnion(passing)
    }
  }

  /// The common properties of the rows that pass, as far as the bounds of blocks tell.
  var zones: [ZoneCondition] {
    switch self {
    case .column(let condition): condition.zone.map { [$0] } ?? []
    case .and(let lhs, let rhs): lhs.zones + rhs.zones
    case .all, .none, .not, .or: []
    }
  }
}

// MARK: Cost

extension ColumnTest {
  /// Whether texts have to be read from end to end, which takes as long as some hundred comparisons of numbers.
  var readsWholeTexts: Bool {
    switch self {
    case .all, .none: return false
    case .column(let condition):
      guard case .text(let text) = condition.values else { return false }
      return text.bytes == nil
    case .not(let test): return test.readsWholeTexts
    case .and(let lhs, let rhs), .or(let lhs, let rhs):
      return lhs.readsWholeTexts || rhs.readsWholeTexts
    }
  }
}

// MARK: Putting together

extension ColumnTest {
  static func constant(_ value: Bool) -> ColumnTest { value ? .all : .none }

  var isAll: Bool { if case .all = self { true } else { false } }
  var isNone: Bool { if case .none = self { true } else { false } }

  var negated: ColumnTest {
    switch self {
    case .all: .none
    case .none: .all
    case .not(let test): test
    default: .not(self)
    }
  }

  func and(_ other: ColumnTest) -> ColumnTest {
    if isNone || other.isAll { return self }
    if other.isNone || isAll { return other }
    return .and(self, other)
  }

  func or(_ other: ColumnTest) -> ColumnTest {
    if isAll || other.isNone { return self }
    if other.isAll || isNone { return other }
    return .or(self, other)
  }
}
