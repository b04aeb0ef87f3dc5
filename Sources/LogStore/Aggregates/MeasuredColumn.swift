import LogEngine
import ModelRuntime
import RowFormat

/// A column that is read to measure a property.
struct MeasuredColumn {
  /// Its number in the catalogue.
  let number: UInt16
  let kind: QueryKind
  private let enumeration: (any RawValues)?
  private let absent: QueryValue
  /// What a null column reads as, and one that the row is older than.
  let ifNull: QueryValue
  let ifLacking: QueryValue

  /// - Returns: `nil` where the column alone does not tell what the property is.
  init?(_ source: AggregateRequest.Source, of table: EntityTable, _ resolver: StoreResolver) {
    guard let (path, reading) = source.column, path.isTestedRow,
      table.descriptor.isKind(of: path.descriptor),
      let number = table.numberOfWholeColumn(at: reading.column)
    else { return nil }
    switch reading.kind {
    case .bytes, .identifier: return nil
    default: break
    }
    let reader = SourceReader([source], of: table.descriptor, resolver)
    func value(_ row: [UInt8]) -> QueryValue? {
      try? unsafe row.withUnsafeBytes { try unsafe reader.values(of: $0.bytes, .none)[0] }
    }
    guard let ifNull = value(table.rowOfNulls()),
      let ifLacking = value(table.descriptor.defaultRow())
    else { return nil }
    self.number = number
    kind = reading.kind
    enumeration = reading.enumeration
    absent = reading.absent
    self.ifNull = ifNull
    self.ifLacking = ifLacking
  }

  /// Whether each stored value is the property's.
  var isPlain: Bool { enumeration == nil }

  /// A stored value as the property reads it.
  func value(_ stored: QueryValue) -> QueryValue {
    guard let enumeration else { return stored }
    return enumeration.contains(stored) ? stored : absent
  }

  /// The value of a row, which has one in the column.
  func value(at row: Int, of vector: ColumnVector) -> QueryValue {
    switch vector.form {
    case .integers: value(.integer(vector.integers[row]))
    case .doubles: value(.double(vector.doubles[row]))
    case .bits: value(.bool(vector.bits[row >> 6] >> UInt64(row & 63) & 1 == 1))
    case .identifiers:
      value(
        .uuid(QueryUUID(vector.identifiers[row * 2], vector.identifiers[row * 2 + 1]))
      )
    case .codes, .bytes: value(.text(String(decoding: vector.bytes(at: row))))
    case .absent, .dense: preconditionFailure("a column of \(vector.form) has no values")
    }
  }
}

extension String {
  /// The text that some bytes of a row are.
  init(decoding bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
