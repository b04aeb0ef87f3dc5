#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Decodes rows from the result of a select of a table's columns.
struct RowDecoder: ~Copyable {
  private let table: MappedTable
  private var writer = RowWriter()

  init(_ table: MappedTable) { self.table = table }

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
    var place = 1
    for column in table.columns {
      defer { place += column.kind == .external ? 2 : 1 }
      try write(column, number, place, of: result, reference)
    }
    let range = writer.finish()
    return try body(reference, writer.bytes.extracting(range))
  }

  private mutating func write(
    _ column: MappedColumn,
    _ row: Int,
    _ place: Int,
    of result: StatementResult,
    _ reference: RowReference
  ) throws {
    let position = column.position
    if result.isNull(row, place) {
      guard column.kind == .external, !result.isNull(row, place + 1) else { return }
      let length = Int(result.integer(row, place + 1))
      // The value is looked up by its row; any number will do here.
      let blob = BlobReference(
        id: BlobID(rawValue: reference.key),
        byteCount: length,
        checksum: 0
      )
      return writer.append(position, blob: blob)
    }
    switch column.kind {
    case .bool: writer.set(position, bool: result.bool(row, place))
    case .integer: writer.set(position, integer: result.integer(row, place))
    case .double: writer.set(position, double: result.double(row, place))
    case .date:
      writer.set(position, double: PostgresDate.seconds(of: result.integer(row, place)))
    case .uuid:
      let bytes = result.bytes(row, place).bytes
      writer.set(position, uuid: (bytes.load(UInt64.self, at: 0), bytes.load(UInt64.self, at: 8)))
    case .reference:
      let target = UInt64(bitPattern: result.integer(row, place))
      writer.set(position, reference: RowReference(rawValue: target))
    case .text, .bytes: writer.append(position, bytes: result.bytes(row, place).bytes)
    case .external: writer.append(position, inlineBlob: result.bytes(row, place).bytes)
    case .references:
      let references = result.integers(row, place).lazy.map {
        RowReference(rawValue: UInt64(bitPattern: $0))
      }
      writer.append(position, references: references)
    case .decimal:
      var cbor: [UInt8] = []
      let text = result.text(row, place)
      let json = Array("\"\(text)\"".utf8)
      try json.withUnsafeBytes { try CompositeReader.append($0, to: &cbor) }
      cbor.withUnsafeBytes { writer.append(position, bytes: $0.bytes) }
    case .composite:
      // The text follows a byte with the number of its format.
      let json = UnsafeRawBufferPointer(rebasing: result.bytes(row, place).dropFirst())
      var cbor: [UInt8] = []
      do {
        try CompositeReader.append(json, to: &cbor)
      } catch let error as CompositeReader.Malformed {
        throw PostgresStoreError.unreadableValue(
          entity: table.descriptor.entityName,
          property: column.name,
          key: reference.key,
          reason: error.reason
        )
      }
      cbor.withUnsafeBytes { writer.append(position, bytes: $0.bytes) }
    }
  }
}
#endif
