#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

extension MappedTable {
  /// Appends the value of a column of a row to an array of such values.
  ///
  /// - Throws: ``PostgresStoreError/unstorableValue(entity:property:key:reason:)``.
  func append(
    _ column: MappedColumn,
    of row: RawSpan,
    _ reference: RowReference,
    to values: inout ArrayParameter
  ) throws {
    let position = column.position
    if layout.isNull(position, in: row) { return values.appendNull() }
    func unstorable(_ reason: String) -> PostgresStoreError {
      self.unstorable(column, of: reference, reason)
    }
    func check(_ byteCount: Int) throws {
      if byteCount > valueLimit { throw unstorable(ValueLimit.reason(byteCount)) }
    }
    switch column.kind {
    case .bool:
      let value: UInt8 = layout.bool(position, in: row) ? 1 : 0
      withUnsafeBytes(of: value) { values.append(bytes: $0) }
    case .integer: values.append(layout.integer(position, in: row))
    case .double:
      values.append(word: layout.double(position, in: row).bitPattern)
    case .date:
      let seconds = layout.double(position, in: row)
      guard let microseconds = PostgresDate.microseconds(since2001: seconds) else {
        throw unstorable(
          "PostgreSQL keeps dates from 4713 BC to the year 294276, not \(seconds) s since 2001"
        )
      }
      values.append(microseconds)
    case .uuid:
      let (low, high) = layout.uuid(position, in: row)
      values.append(.uuid) {
        $0.appendBigEndian(low.byteSwapped)
        $0.appendBigEndian(high.byteSwapped)
      }
    case .reference:
      values.append(Int64(bitPattern: layout.reference(position, in: row).rawValue))
    case .text:
      let range = layout.range(position, in: row)
      try check(range.count)
      try row.withUnsafeBytes { bytes in
        let text = UnsafeRawBufferPointer(rebasing: bytes[range])
        if text.baseAddress.map({ memchr($0, 0, text.count) }) ?? nil != nil {
          throw unstorable("text in PostgreSQL has no U+0000: keep the value as Data instead")
        }
        values.append(bytes: text)
      }
    case .bytes:
      let range = layout.range(position, in: row)
      try check(range.count)
      values.append(row.extracting(range))
    case .external:
      // A value that is with the row on the server is not written again; see `isWritten`.
      guard case .inline(let range) = layout.blob(position, in: row) else {
        return values.appendNull()
      }
      try check(range.count)
      values.append(row.extracting(range))
    case .references:
      let references = layout.references(position, in: row).map { String($0.rawValue) }
      let text = "{\(references.joined(separator: ","))}".utf8
      try check(text.count)
      values.append(.text) { $0.append(contentsOf: text) }
    case .decimal:
      let range = layout.range(position, in: row)
      guard case .text(let digits) = StructuredValue(row.extracting(range)) else {
        throw unstorable("it is no decimal number")
      }
      values.append(.text) { $0.append(contentsOf: digits.utf8) }
    case .composite:
      let value = row.extracting(layout.range(position, in: row))
      do {
        let start = values.byteCount
        try values.append(.jsonb) { json in
          json.append(1)
          try CompositeText.append(value, to: &json)
        }
        try check(values.byteCount - start)
      } catch let error as CompositeText.Unwritable {
        throw unstorable(error.reason)
      }
    }
  }

  /// The error for a value that the server cannot keep.
  func unstorable(
    _ column: MappedColumn,
    of reference: RowReference,
    _ reason: String
  ) -> PostgresStoreError {
    .unstorableValue(
      entity: descriptor.entityName,
      property: column.name,
      key: reference.key,
      reason: reason
    )
  }

  /// Whether an update has to write a column: not if only the length of its value is known, and the value is on the server.
  func isWritten(_ column: MappedColumn, of row: RawSpan) -> Bool {
    guard column.kind == .external, !layout.isNull(column.position, in: row) else { return true }
    return layout.blob(column.position, in: row)?.reference == nil
  }
}

extension ArrayParameter {
  fileprivate mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { append(bytes: $0) }
  }
}
#endif
