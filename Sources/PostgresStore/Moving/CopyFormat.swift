#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Rows in the binary format of `COPY`: the key, then the columns in the order of their names.
///
///     2 bytes        how many fields follow
///     each field     4 bytes with its length, −1 for null; its bytes as the server's type sends them
///
/// Before the first row stand eleven bytes of signature and eight of flags, behind the last one a count of −1.
struct CopyFormat {
  /// Reads a value that is not in its row.
  typealias OpenBlob = (BlobReference, (RawSpan) throws -> Void) throws -> Void

  let table: TableDescription
  private let layout: RowLayout
  /// The columns, by name.
  private let columns: [Column]
  /// The places of the columns among those by name, in the order of rows.
  private let order: [Int]

  private struct Column {
    let position: Int
    let name: String
    let kind: MappedColumn.Kind
  }

  static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
  static let trailer: [UInt8] = [0xFF, 0xFF]
  /// The server refuses messages of a gigabyte; a composite may need more as text than its bytes.
  private static let valueLimit = 1_000_000_000

  init(_ table: TableDescription) {
    self.table = table
    layout = table.layout
    columns = table.columns.enumerated().map {
      Column(position: $0, name: $1.name, kind: MappedColumn.Kind($1.type))
    }.sorted { $0.name < $1.name }
    let columns = columns
    order = columns.indices.sorted { columns[$0].position < columns[$1].position }
  }

  /// The names of the columns as they travel, in SQL.
  var columnNames: [String] { columns.map(\.name) }

  /// Whether the server may return other bytes for a value than it was sent: jsonb has an order of its own.
  var isRearranged: Bool { columns.contains { $0.kind == .composite } }
}

// MARK: Writing

extension CopyFormat {
  /// Appends a row.
  ///
  /// - Throws: ``MoveError/unstorableValue(table:key:column:reason:)``, or what `open` throws.
  func append(
    _ reference: RowReference,
    _ row: RawSpan,
    to buffer: inout ByteBuffer,
    open: OpenBlob
  ) throws {
    buffer.append(UInt16(columns.count + 1).byteSwapped)
    buffer.append(UInt32(8).byteSwapped)
    buffer.append(reference.rawValue.byteSwapped)
    for column in columns { try append(column, reference, row, to: &buffer, open) }
  }

  private func append(
    _ column: Column,
    _ reference: RowReference,
    _ row: RawSpan,
    to buffer: inout ByteBuffer,
    _ open: OpenBlob
  ) throws {
    let position = column.position
    func unstorable(_ reason: String) -> MoveError {
      .unstorableValue(
        table: table.name,
        key: reference.key,
        column: column.name,
        reason: reason
      )
    }
    func check(_ byteCount: Int) throws {
      guard byteCount <= CopyFormat.valueLimit else {
        throw unstorable("it has \(byteCount) bytes, and PostgreSQL keeps up to a gigabyte")
      }
    }
    if layout.isNull(position, in: row) { return buffer.append(UInt32.max) }
    switch column.kind {
    case .bool:
      buffer.append(UInt32(1).byteSwapped)
      buffer.append(layout.bool(position, in: row) ? 1 as UInt8 : 0)
    case .integer:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.integer(position, in: row).byteSwapped)
    case .double:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.double(position, in: row).bitPattern.byteSwapped)
    case .date:
      let seconds = layout.double(position, in: row)
      guard let microseconds = PostgresDate.microseconds(since2001: seconds) else {
        throw unstorable(
          "PostgreSQL keeps dates from 4713 BC to the year 294276, not \(seconds) s since 2001"
        )
      }
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(microseconds.byteSwapped)
    case .uuid:
      let (low, high) = layout.uuid(position, in: row)
      buffer.append(UInt32(16).byteSwapped)
      buffer.append(low)
      buffer.append(high)
    case .reference:
      buffer.append(UInt32(8).byteSwapped)
      buffer.append(layout.reference(position, in: row).rawValue.byteSwapped)
    case .text, .bytes:
      let range = layout.range(position, in: row)
      try check(range.count)
      let bytes = row.extracting(range)
      if column.kind == .text, bytes.contains(0) {
        throw unstorable("text in PostgreSQL has no U+0000: keep the value as Data instead")
      }
      buffer.append(UInt32(range.count).byteSwapped)
      buffer.append(bytes)
    case .external:
      switch layout.blob(position, in: row) {
      case nil: throw unstorable("its bytes are damaged")
      case .inline(let range):
        try check(range.count)
        buffer.append(UInt32(range.count).byteSwapped)
        buffer.append(row.extracting(range))
      case .external(let blob):
        try check(blob.byteCount)
        let start = buffer.count
        buffer.append(UInt32(blob.byteCount).byteSwapped)
        try open(blob) { buffer.append($0) }
        guard buffer.count - start - 4 == blob.byteCount else {
          throw unstorable("its file has another length")
        }
      }
    case .references:
      let references = layout.references(position, in: row)
      try check(references.count * 12)
      buffer.append(UInt32(references.isEmpty ? 12 : 20 + references.count * 12).byteSwapped)
      buffer.append(UInt32(references.isEmpty ? 0 : 1).byteSwapped)
      buffer.append(0 as UInt32)
      buffer.append(ServerType.bigint.rawValue.byteSwapped)
      guard !references.isEmpty else { return }
      buffer.append(UInt32(references.count).byteSwapped)
      buffer.append(UInt32(1).byteSwapped)
      for reference in references {
        buffer.append(UInt32(8).byteSwapped)
        buffer.append(reference.rawValue.byteSwapped)
      }
    case .decimal, .composite:
      let range = layout.range(position, in: row)
      guard let value = StructuredValue(row.extracting(range)) else {
        throw unstorable("its bytes are damaged")
      }
      var json: [UInt8] = [1]
      do {
        try CompositeText.append(value.arranged, to: &json)
      } catch let error as CompositeText.Unwritable {
        throw unstorable(error.reason)
      }
      try check(json.count)
      buffer.append(UInt32(json.count).byteSwapped)
      buffer.append(json.span.bytes)
    }
  }
}

extension RawSpan {
  fileprivate func contains(_ byte: UInt8) -> Bool {
    withUnsafeBytes { $0.baseAddress.map { memchr($0, Int32(byte), byteCount) != nil } ?? false }
  }
}

extension StructuredValue {
  /// The same value with the members of its objects in one order: what two stores have to agree on.
  fileprivate var arranged: StructuredValue {
    switch self {
    case .array(let values): return .array(values.map(\.arranged))
    case .tagged(let tag, let value): return .tagged(tag, value.arranged)
    case .map(let entries):
      let isObject = entries.allSatisfy { if case .text = $0.key { true } else { false } }
      let arranged = entries.map { Entry(key: $0.key.arranged, value: $0.value.arranged) }
      guard isObject else { return .map(arranged) }
      return .map(
        arranged.sorted { lhs, rhs in
          guard case .text(let lhs) = lhs.key, case .text(let rhs) = rhs.key else { return false }
          return lhs.utf8.lexicographicallyPrecedes(rhs.utf8)
        }
      )
    default: return self
    }
  }
}

// MARK: Reading

extension CopyFormat {
  /// Reads a row, and lends it to a closure in the table's layout.
  ///
  /// - Parameters:
  ///   - message: The fields of the row, without a header before them.
  ///   - writer: Where the row is made; it is empty afterwards.
  ///   - blob: Keeps a large value elsewhere, and returns its name; `nil` to keep it in the row.
  ///   - body: Takes the row.
  /// - Throws: ``MoveError``, or what the closures throw.
  func read(
    _ message: UnsafeRawBufferPointer,
    into writer: inout RowWriter,
    blob: (RawSpan) throws -> BlobReference?,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    guard let fields = fields(of: message), let key = fields[0], key.count == 8 else {
      throw malformed("a row of \(message.count) bytes that is none")
    }
    let reference = RowReference(rawValue: message[key].bigEndian(UInt64.self))
    writer.begin(layout)
    // Values of variable width come in the order of their columns.
    for place in order {
      guard let range = fields[place + 1] else { continue }
      try write(columns[place], message[range], reference, into: &writer, blob)
    }
    let range = writer.finish()
    try body(reference, writer.bytes.extracting(range))
    writer.removeAll()
  }

  private func malformed(_ found: String) -> MoveError {
    .otherSchema(namespace: table.name, expected: "rows as COPY sends them", found: found)
  }

  private func fields(of message: UnsafeRawBufferPointer) -> [Range<Int>?]? {
    guard message.count >= 2,
      Int(message[0..<2].bigEndian(UInt16.self)) == columns.count + 1
    else { return nil }
    var fields: [Range<Int>?] = []
    fields.reserveCapacity(columns.count + 1)
    var offset = 2
    for _ in 0...columns.count {
      guard offset + 4 <= message.count else { return nil }
      let length = Int(Int32(bitPattern: message[offset..<(offset + 4)].bigEndian(UInt32.self)))
      offset += 4
      guard length >= 0 else {
        fields.append(nil)
        continue
      }
      guard offset + length <= message.count else { return nil }
      fields.append(offset..<(offset + length))
      offset += length
    }
    return offset == message.count ? fields : nil
  }

  private func write(
    _ column: Column,
    _ field: Slice<UnsafeRawBufferPointer>,
    _ reference: RowReference,
    into writer: inout RowWriter,
    _ blob: (RawSpan) throws -> BlobReference?
  ) throws {
    let position = column.position
    let bytes = UnsafeRawBufferPointer(rebasing: field)
    func unreadable(_ reason: String) -> MoveError {
      .unstorableValue(
        table: table.name,
        key: reference.key,
        column: column.name,
        reason: reason
      )
    }
    switch column.kind {
    case .bool, .integer, .double, .date, .uuid, .reference:
      guard bytes.count == layout.types[position].fixedWidth else {
        throw unreadable("it has \(bytes.count) bytes")
      }
    default: break
    }
    switch column.kind {
    case .bool: writer.set(position, bool: bytes[0] != 0)
    case .integer: writer.set(position, integer: field.bigEndian(Int64.self))
    case .double:
      writer.set(position, double: Double(bitPattern: field.bigEndian(UInt64.self)))
    case .date:
      writer.set(position, double: PostgresDate.seconds(of: field.bigEndian(Int64.self)))
    case .uuid:
      writer.set(
        position,
        uuid: (
          UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
          UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      )
    case .reference:
      writer.set(position, reference: RowReference(rawValue: field.bigEndian(UInt64.self)))
    case .text, .bytes: writer.append(position, bytes: bytes.bytes)
    case .external:
      if let name = try blob(bytes.bytes) {
        writer.append(position, blob: name)
      } else {
        writer.append(position, inlineBlob: bytes.bytes)
      }
    case .references:
      guard let references = self.references(bytes) else { throw unreadable("it is no list") }
      writer.append(position, references: references)
    case .decimal, .composite:
      var cbor: [UInt8] = []
      do {
        try CompositeReader.append(
          UnsafeRawBufferPointer(rebasing: bytes.dropFirst()),
          to: &cbor
        )
      } catch let error as CompositeReader.Malformed {
        throw unreadable(error.reason)
      }
      writer.append(position, bytes: cbor.span.bytes)
    }
  }

  private func references(_ bytes: UnsafeRawBufferPointer) -> [RowReference]? {
    guard bytes.count >= 12 else { return nil }
    if bytes[0..<4].bigEndian(UInt32.self) == 0 { return [] }
    guard bytes.count >= 20 else { return nil }
    let count = Int(bytes[12..<16].bigEndian(UInt32.self))
    guard bytes.count == 20 + count * 12 else { return nil }
    return (0..<count).map { place in
      let start = 24 + place * 12
      return RowReference(rawValue: bytes[start..<(start + 8)].bigEndian(UInt64.self))
    }
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) -> T {
    T(bigEndian: base.loadUnaligned(fromByteOffset: startIndex, as: T.self))
  }
}
#endif
