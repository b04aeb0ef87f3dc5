/// A value without fields that is being read.
struct SingleStructuredDecodingContainer: SingleValueDecodingContainer {
  private let reader: StructuredReader
  private let offset: Int
  private let place: StructuredPlace?

  init(reader: StructuredReader, offset: Int, place: StructuredPlace?) {
    self.reader = reader
    self.offset = offset
    self.place = place
  }

  var codingPath: [any CodingKey] { StructuredPlace.path(place) }

  func decodeNil() -> Bool { reader.isNull(at: offset) }
  func decode(_ type: Bool.Type) throws -> Bool { try reader.bool(at: offset, in: place) }
  func decode(_ type: String.Type) throws -> String { try reader.text(at: offset, in: place) }
  func decode(_ type: Double.Type) throws -> Double { try reader.double(at: offset, in: place) }
  func decode(_ type: Float.Type) throws -> Float { try reader.float(at: offset, in: place) }
  func decode(_ type: Int.Type) throws -> Int { try reader.integer(at: offset, in: place) }
  func decode(_ type: Int8.Type) throws -> Int8 { try reader.integer(at: offset, in: place) }
  func decode(_ type: Int16.Type) throws -> Int16 { try reader.integer(at: offset, in: place) }
  func decode(_ type: Int32.Type) throws -> Int32 { try reader.integer(at: offset, in: place) }
  func decode(_ type: Int64.Type) throws -> Int64 { try reader.integer(at: offset, in: place) }
  func decode(_ type: UInt.Type) throws -> UInt { try reader.integer(at: offset, in: place) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try reader.integer(at: offset, in: place) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try reader.integer(at: offset, in: place) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try reader.integer(at: offset, in: place) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try reader.integer(at: offset, in: place) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try reader.decode(type, at: offset, in: place)
  }
}
