import Foundation
import RowFormat

extension ExpressionCompiler {
  /// The reader of any value.
  func value(_ expression: QueryExpression) -> RowReader<QueryValue> {
    switch expression {
    case .constant(let constant):
      let value = resolved(constant)
      return { _, _, _ in value }
    case .column(let path, let reading):
      return along(path, missing: { try reading.value(whenMissing: $0) }) {
        columnReader(reading, $0)
      }
    case .structured(let path, let reading):
      return along(path, missing: { try reading.value(whenMissing: $0) }) { descriptor in
        guard let slot = ColumnSlot(reading.column, descriptor) else { return failing() }
        return { [resolver] row, reference, _ in
          resolved(try reading.value(slot, in: row, reference, resolver))
        }
      }
    case .identifier(let path), .row(let path):
      let reader = referenceReader(path)
      return {
        let reference = try reader($0, $1, $2)
        return reference == .none ? .null : .reference(reference)
      }
    case .conditional(let condition, let then, let otherwise):
      let condition = test(condition)
      let then = value(then)
      let otherwise = value(otherwise)
      return { try condition($0, $1, $2) ? then($0, $1, $2) : otherwise($0, $1, $2) }
    case .coalesce(let first, let second):
      let first = value(first)
      let second = value(second)
      return {
        let value = try first($0, $1, $2)
        return try value.isNull ? second($0, $1, $2) : value
      }
    case .ifPresent(let condition, let then):
      let isAbsent = nullTest(condition)
      let then = value(then)
      return { try isAbsent($0, $1, $2) ? .null : then($0, $1, $2) }
    case .unwrapped(let operand):
      let value = value(operand)
      return {
        let value = try value($0, $1, $2)
        if value.isNull { throw QueryFailure.unwrappedNil }
        return value
      }
    case .arithmetic(_, _, _, .integer), .arithmetic(_, _, _, .unsigned):
      let reader = integer(expression)
      return { try reader($0, $1, $2).map(QueryValue.integer) ?? .null }
    case .arithmetic:
      let reader = double(expression)
      return { try reader($0, $1, $2).map(QueryValue.double) ?? .null }
    case .textComparison(let comparison, let lhs, let rhs):
      return textComparison(comparison, lhs, rhs)
    case .count(let list):
      let count = countReader(list)
      return { try .integer(Int64(count($0, $1, $2))) }
    case .mapped(let operand, let map):
      let value = value(operand)
      return { try resolved(map.apply(value($0, $1, $2))) }
    case .combined(let lhs, let rhs, let combination):
      let lhs = value(lhs)
      let rhs = value(rhs)
      return { try resolved(combination.apply(lhs($0, $1, $2), rhs($0, $1, $2))) }
    case .castRow, .list, .constants, .range:
      // The translation puts none of these in the place of a value.
      return failing()
    case .comparison, .membership, .isNull, .isKind, .not, .and, .or, .text, .exists, .behind:
      let test = test(expression)
      return { try .bool(test($0, $1, $2)) }
    }
  }

  /// Replaces identifiers in a value by references, as rows have them.
  func resolved(_ value: QueryValue) -> QueryValue {
    guard case .identifier(let identifier) = value else { return value }
    // An identifier of another store, or of an unsaved model, stays as it is: different from any row's.
    return resolver.reference(of: identifier).map(QueryValue.reference) ?? value
  }

  /// The reader of a column of the tested row.
  func columnReader(
    _ reading: ColumnReading,
    _ descriptor: ModelDescriptor
  ) -> RowReader<QueryValue> {
    guard let slot = ColumnSlot(reading, descriptor) else { return failing() }
    let absent = reading.absent
    guard let enumeration = reading.enumeration else {
      return { row, _, _ in slot.isNull(in: row) ? absent : slot.value(reading.kind, in: row) }
    }
    return { row, _, _ in
      if slot.isNull(in: row) { return absent }
      let value = slot.value(reading.kind, in: row)
      return enumeration.contains(value) ? value : absent
    }
  }
}

extension ColumnReading {
  /// The value of a column of a row that does not exist.
  func value(whenMissing absence: RowPath.Absence) throws -> QueryValue {
    switch absence {
    case .null: .null
    case .neutral: absent
    case .failure: throw QueryFailure.unwrappedNil
    }
  }
}

extension ColumnSlot {
  /// The value of a non-null column.
  func value(_ kind: QueryKind, in row: RawSpan) -> QueryValue {
    switch kind {
    case .bool: .bool(row.load(UInt8.self, at: offset) != 0)
    case .integer, .unsigned: .integer(row.load(Int64.self, at: offset))
    case .double, .float, .date: .double(double(in: row))
    case .uuid:
      .uuid(
        QueryUUID(row.load(UInt64.self, at: offset), row.load(UInt64.self, at: offset + 8))
      )
    case .text, .url: .text(layout.text(column, in: row))
    case .bytes:
      unsafe .bytes(
        row.extracting(layout.range(column, in: row)).withUnsafeBytes { unsafe Data($0) }
      )
    case .identifier: .reference(RowReference(rawValue: row.load(UInt64.self, at: offset)))
    }
  }

  func double(in row: RawSpan) -> Double {
    Double(bitPattern: row.load(UInt64.self, at: offset))
  }
}
