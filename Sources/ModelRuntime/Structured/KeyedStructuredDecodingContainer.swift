/// A map that is being read.
struct KeyedStructuredDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reader: StructuredReader
  private let map: StructuredMap
  private let place: StructuredPlace?

  init(reader: StructuredReader, map: StructuredMap, place: StructuredPlace?) {
    self.reader = reader
    self.map = map
    self.place = place
  }

  var codingPath: [any CodingKey] { StructuredPlace.path(place) }
  var allKeys: [Key] { map.keys(in: reader).compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { map.offset(of: key.stringValue, in: reader) != nil }

  private func offset(of key: any CodingKey) throws -> Int {
    if let offset = map.offset(of: key.stringValue, in: reader) { return offset }
    throw DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath,
        debugDescription: "there is no field \"\(key.stringValue)\""
      )
    )
  }

  private func inside(_ key: any CodingKey) -> StructuredPlace {
    .field(key, place)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try reader.isNull(at: offset(of: key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try reader.bool(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try reader.text(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try reader.double(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try reader.float(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try reader.integer(at: offset(of: key), in: inside(key))
  }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try reader.decode(type, at: offset(of: key), in: inside(key))
  }

  // MARK: Nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(StructuredKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: any CodingKey) throws -> StructuredDecoder {
    StructuredDecoder(reader: reader, offset: try offset(of: key), place: inside(key))
  }
}
