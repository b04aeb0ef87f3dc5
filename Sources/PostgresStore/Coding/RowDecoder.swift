#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Decodes rows from the result of a select of a table's columns.
struct RowDecoder: ~Copyable {
  /// A column of the rows, and where its value is in the result. (Columns have names, which would be counted for each row.)
  private struct Place {
    let kind: MappedColumn.Kind
    let position: Int
    let field: Int
  }

  private let table: MappedTable
  private let places: [Place]
  private var writer = RowWriter()

  init(_ table: MappedTable) {
    self.table = table
    var field = 1
    places = table.columns.map { column in
      defer { field += column.kind == .external ? 2 : 1 }
      return Place(kind: column.kind, position: column.position, field: field)
    }
  }

  /// Makes a row, and lends it to a closure.
  ///
  /// - Throws: ``PostgresStoreError/unreadableValue(entity:property:key:reason:)``, or what the closure throws.
  mutating func withRow<R>(
    _ number: Int,
    of result: StatementResult,
    _ body: (RowReference, RawSpan) throws -> R
  ) throws -> R {
    let reference = RowReference(rawValue: UInt64(bitPattern: result.integer(number, 0)))
    writer.removeAll()
    writer.begin(table.layout)
    for index in places.indices { try write(places[index], number, of: result, reference) }
    let range = writer.finish()
    return try body(reference, writer.bytes.extracting(range))
  }

  private mutating func write(
    _ place: Place,
    _ row: Int,
    of result: StatementResult,
    _ reference: RowReference
  ) throws {
    let position = place.position
    guard let value = result.value(row, place.field) else {
      guard place.kind == .external, !result.isNull(row, place.field + 1) else { return }
      let length = Int(result.integer(row, place.field + 1))
      // The value is looked up by its row; any number will do here.
      let blob = BlobReference(
        id: BlobID(rawValue: reference.key),
        byteCount: length,
        checksum: 0
      )
      return writer.append(position, blob: blob)
    }
    switch place.kind {
    case .bool: writer.set(position, bool: value.first == 1)
    case .integer: writer.set(position, integer: StatementResult.integer(value))
    case .double: writer.set(position, double: StatementResult.double(value))
    case .date:
      let date = PostgresDate.seconds(of: StatementResult.integer(value))
      writer.set(position, double: date)
    case .uuid:
      let bytes = value.bytes
      writer.set(position, uuid: (bytes.load(UInt64.self, at: 0), bytes.load(UInt64.self, at: 8)))
    case .reference:
      let target = UInt64(bitPattern: StatementResult.integer(value))
      writer.set(position, reference: RowReference(rawValue: target))
    case .text, .bytes: writer.append(position, bytes: value.bytes)
    case .external: writer.append(position, inlineBlob: value.bytes)
    case .references:
      let references = result.integers(row, place.field).lazy.map {
        RowReference(rawValue: UInt64(bitPattern: $0))
      }
      writer.append(position, references: references)
    case .decimal:
      var cbor: [UInt8] = []
      let text = String(decoding: value, as: UTF8.self)
      let json = Array("\"\(text)\"".utf8)
      try json.withUnsafeBytes { try CompositeReader.append($0, to: &cbor) }
      cbor.withUnsafeBytes { writer.append(position, bytes: $0.bytes) }
    case .composite:
      // The text follows a byte with the number of its format.
      let json = UnsafeRawBufferPointer(rebasing: value.dropFirst())
      var cbor: [UInt8] = []
      do {
        try CompositeReader.append(json, to: &cbor)
      } catch let error as CompositeReader.Malformed {
        throw PostgresStoreError.unreadableValue(
          entity: table.descriptor.entityName,
          property: table.columns[position].name,
          key: reference.key,
          reason: error.reason
        )
      }
      cbor.withUnsafeBytes { writer.append(position, bytes: $0.bytes) }
    }
  }
}
#endif
