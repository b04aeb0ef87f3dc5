#if PostgreSQL
import RowFormat

/// Reads rows as `COPY` sends them, one after the other, and lends them in their table's layout.
///
///     var reader = CopyReader(CopyFormat(table))
///     try reader.read(message, blob: { _ in nil }) { reference, row in … }
///
/// Nothing is allocated for a row: the one before lends its memory. Values of fixed width are written as they come, by the
/// names of their columns; those of variable width are found first, and then written in the order of their columns.
struct CopyReader: ~Copyable {
  private let format: CopyFormat
  private let layout: RowLayout
  private let fields: [Field]
  /// The places of the fields of variable width, in the order of their columns.
  private let variablePlaces: [Int]
  /// The ranges of such fields in the row that is read; `nil` if they are null.
  private var ranges: [Range<Int>?]
  private var writer = RowWriter()

  /// A field of a row, without the column's name: so it is copied without counting references.
  private struct Field {
    let position: Int
    let kind: MappedColumn.Kind
    /// The field's length in bytes; 0 if it varies.
    let width: Int
  }

  /// The count of the fields, and the key behind its length.
  private static let keyEnd = 2 + 4 + 8

  init(_ format: CopyFormat) {
    self.format = format
    layout = format.layout
    let types = layout.types
    fields = format.columns.map {
      let type = types[$0.position]
      return Field(
        position: $0.position,
        kind: $0.kind,
        width: type.isVariable ? 0 : type.fixedWidth
      )
    }
    let fields = fields
    variablePlaces = fields.indices.filter { fields[$0].width == 0 }
      .sorted { fields[$0].position < fields[$1].position }
    ranges = Array(repeating: nil, count: fields.count)
  }

  /// Reads a row, and lends it to a closure in the table's layout.
  ///
  /// - Parameters:
  ///   - message: The fields of the row, without a header before them.
  ///   - blob: Keeps a large value elsewhere, and returns its name; `nil` to keep it in the row.
  ///   - body: Takes the row.
  /// - Throws: ``MoveError``, or what the closures throw.
  mutating func read(
    _ message: UnsafeRawBufferPointer,
    blob: (RawSpan) throws -> BlobReference?,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    guard message.count >= CopyReader.keyEnd,
      Int(message.bigEndian(UInt16.self, at: 0)) == fields.count + 1,
      message.bigEndian(UInt32.self, at: 2) == 8
    else { throw malformed(message) }
    let reference = RowReference(rawValue: message.bigEndian(UInt64.self, at: 6))
    defer { writer.removeAll() }
    writer.begin(layout)
    try findFields(message, reference)
    for place in variablePlaces {
      guard let range = ranges[place] else { continue }
      let bytes = UnsafeRawBufferPointer(rebasing: message[range])
      try write(fields[place], bytes, reference, blob)
    }
    let range = writer.finish()
    try body(reference, writer.bytes.extracting(range))
  }

  /// Writes the values of fixed width, and finds the others.
  private mutating func findFields(
    _ message: UnsafeRawBufferPointer,
    _ reference: RowReference
  ) throws {
    var offset = CopyReader.keyEnd
    for place in fields.indices {
      guard offset + 4 <= message.count else { throw malformed(message) }
      let length = Int(Int32(bitPattern: message.bigEndian(UInt32.self, at: offset)))
      offset += 4
      let field = fields[place]
      guard length >= 0 else {
        if field.width == 0 { ranges[place] = nil }
        continue
      }
      guard length <= message.count - offset else { throw malformed(message) }
      if field.width == 0 {
        ranges[place] = offset..<(offset + length)
      } else {
        guard length == field.width else {
          throw unreadable(field, reference, "it has \(length) bytes")
        }
        write(field, of: message, at: offset)
      }
      offset += length
    }
    guard offset == message.count else { throw malformed(message) }
  }

  private mutating func write(
    _ field: Field,
    of message: UnsafeRawBufferPointer,
    at offset: Int
  ) {
    let position = field.position
    switch field.kind {
    case .bool: writer.set(position, bool: message[offset] != 0)
    case .integer:
      writer.set(position, integer: message.bigEndian(Int64.self, at: offset))
    case .double:
      writer.set(
        position,
        double: Double(bitPattern: message.bigEndian(UInt64.self, at: offset))
      )
    case .date:
      writer.set(
        position,
        double: PostgresDate.seconds(of: message.bigEndian(Int64.self, at: offset))
      )
    case .uuid:
      writer.set(
        position,
        uuid: (
          message.bigEndian(UInt64.self, at: offset).byteSwapped,
          message.bigEndian(UInt64.self, at: offset + 8).byteSwapped
        )
      )
    case .reference:
      writer.set(
        position,
        reference: RowReference(rawValue: message.bigEndian(UInt64.self, at: offset))
      )
    case .text, .bytes, .external, .references, .decimal, .composite:
      preconditionFailure("\(field.kind) has no fixed width")
    }
  }

  private mutating func write(
    _ field: Field,
    _ bytes: UnsafeRawBufferPointer,
    _ reference: RowReference,
    _ blob: (RawSpan) throws -> BlobReference?
  ) throws {
    let position = field.position
    switch field.kind {
    case .text, .bytes: writer.append(position, bytes: bytes.bytes)
    case .external:
      if let name = try blob(bytes.bytes) {
        writer.append(position, blob: name)
      } else {
        writer.append(position, inlineBlob: bytes.bytes)
      }
    case .references:
      guard let references = CopyReader.references(bytes) else {
        throw unreadable(field, reference, "it is no list")
      }
      writer.append(position, references: references)
    case .decimal, .composite:
      var cbor: [UInt8] = []
      do {
        try CompositeReader.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), to: &cbor)
      } catch let error as CompositeReader.Malformed {
        throw unreadable(field, reference, error.reason)
      }
      writer.append(position, bytes: cbor.span.bytes)
    case .bool, .integer, .double, .date, .uuid, .reference:
      preconditionFailure("\(field.kind) has a fixed width")
    }
  }

  private static func references(_ bytes: UnsafeRawBufferPointer) -> [RowReference]? {
    guard bytes.count >= 12 else { return nil }
    if bytes.bigEndian(UInt32.self, at: 0) == 0 { return [] }
    guard bytes.count >= 20 else { return nil }
    let count = Int(bytes.bigEndian(UInt32.self, at: 12))
    guard bytes.count == 20 + count * 12 else { return nil }
    return (0..<count).map {
      RowReference(rawValue: bytes.bigEndian(UInt64.self, at: 24 + $0 * 12))
    }
  }

  private func malformed(_ message: UnsafeRawBufferPointer) -> MoveError {
    .otherSchema(
      namespace: format.table.name,
      expected: "rows as COPY sends them",
      found: "a row of \(message.count) bytes that is none"
    )
  }

  private func unreadable(
    _ field: Field,
    _ reference: RowReference,
    _ reason: String
  ) -> MoveError {
    .unstorableValue(
      table: format.table.name,
      key: reference.key,
      column: format.table.columns[field.position].name,
      reason: reason
    )
  }
}

extension UnsafeRawBufferPointer {
  /// Reads an integer as the server sends it; beyond the end is the caller's mistake.
  fileprivate func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(
    _: T.Type,
    at offset: Int
  ) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}
#endif
