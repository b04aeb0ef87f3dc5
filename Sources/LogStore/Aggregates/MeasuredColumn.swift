import LogEngine
import ModelRuntime
import RowFormat

/// A column that is read to measure a property, or to group by it.
struct MeasuredColumn {
  /// Its number in the catalogue.
  let number: UInt16
  private let enumeration: (any RawValues)?
  /// Whether the type has a text; remembers what it said of a dictionary.
  private let knownText: TextCondition?
  private let absent: QueryValue
  /// Reads the property, if it is one of the rows that the column refers to.
  let related: RelatedValues?
  /// The value of a null column, and the value of a column that the row is older than.
  let ifNull: QueryValue
  let ifLacking: QueryValue

  /// - Returns: `nil` if the column alone does not tell the property's value.
  init?(_ source: AggregateRequest.Source, of table: EntityTable, _ resolver: StoreResolver) {
    guard let (path, reading) = source.column, path.level == 0 else { return nil }
    let position: Int
    if let step = path.steps.first {
      position = step.property.ordinal
      let properties = table.descriptor.properties
      guard properties.indices.contains(position), properties[position] === step.property else {
        return nil
      }
    } else {
      guard table.descriptor.isKind(of: path.descriptor) else { return nil }
      position = reading.column
    }
    guard let number = table.numberOfWholeColumn(at: position) else { return nil }
    switch reading.kind {
    case .bytes, .identifier: return nil
    default: break
    }
    let reader = SourceReader([source], of: table.descriptor, resolver)
    func value(_ row: [UInt8]) -> QueryValue? {
      try? unsafe row.withUnsafeBytes { try unsafe reader.values(of: $0.bytes, .none)[0] }
    }
    guard let ifNull = value(table.rowOfNulls()),
      let ifLacking = value(table.rowOfLacking())
    else { return nil }
    self.number = number
    related =
      path.steps.isEmpty ? nil : RelatedValues(reader, table.layout, referredToBy: position)
    let enumeration = path.steps.isEmpty ? reading.enumeration : nil
    self.enumeration = enumeration
    knownText = enumeration.map { type in
      TextCondition { type.contains(.text(String(decoding: $0))) }
    }
    absent = reading.absent
    self.ifNull = ifNull
    self.ifLacking = ifLacking
  }

  /// Whether each stored value is the property's.
  var isPlain: Bool { enumeration == nil && related == nil }

  /// A stored value as the property reads it.
  func value(_ stored: QueryValue) -> QueryValue {
    if let related, case .integer(let bits) = stored {
      return related.value(of: RowReference(rawValue: UInt64(bitPattern: bits)))
    }
    guard let enumeration else { return stored }
    return enumeration.contains(stored) ? stored : absent
  }

  /// Keeps rows in which the property has a value, of rows that have one in the column.
  ///
  /// An optional enumeration is nil where the stored value is none of its cases any more.
  func keepValues(in rows: inout RowSelection, of vector: ColumnVector) {
    guard let enumeration, let knownText, absent.isNull else { return }
    switch vector.form {
    case .codes, .bytes: vector.keep(where: &knownText.test, in: &rows)
    case .integers:
      vector.keep(integersWhere: { enumeration.contains(.integer($0)) }, in: &rows)
    default:
      let all = rows
      all.forEach { if value(at: $0, of: vector).isNull { rows.drop($0) } }
    }
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

/// Reads a property of the rows that a column refers to.
///
/// It is read anew at each call, as a row would read it that has the reference and nothing else: a key's encoder asks once for each
/// reference.
final class RelatedValues {
  private let reader: SourceReader
  private let layout: RowLayout
  private let column: Int
  /// The first error; values requested after it are not right.
  private(set) var failure: (any Error)?

  init(_ reader: SourceReader, _ layout: RowLayout, referredToBy column: Int) {
    self.reader = reader
    self.layout = layout
    self.column = column
  }

  func value(of reference: RowReference) -> QueryValue {
    var writer = RowWriter(capacity: 256)
    writer.begin(layout)
    writer.set(column, reference: reference)
    let range = writer.finish()
    do {
      return try reader.values(of: writer.bytes.extracting(range), .none)[0]
    } catch {
      failure = failure ?? error
      return .null
    }
  }
}

extension String {
  /// The text that some bytes of a row are.
  init(decoding bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
