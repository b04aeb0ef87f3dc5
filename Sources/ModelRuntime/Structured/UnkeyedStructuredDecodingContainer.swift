/// An array that is being read.
struct UnkeyedStructuredDecodingContainer: UnkeyedDecodingContainer {
  private let reader: StructuredReader
  private let offsets: [Int]
  private let place: StructuredPlace?
  private(set) var currentIndex = 0

  init(reader: StructuredReader, offsets: [Int], place: StructuredPlace?) {
    self.reader = reader
    self.offsets = offsets
    self.place = place
  }

  var codingPath: [any CodingKey] { StructuredPlace.path(place) }
  var count: Int? { offsets.count }
  var isAtEnd: Bool { currentIndex == offsets.count }

  /// Reads the next element, and advances unless that throws.
  private mutating func element<T>(
    _ read: (StructuredReader, _ offset: Int, _ element: Element) throws -> T
  ) throws -> T {
    let element = Element(index: currentIndex, array: place)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        T.self,
        DecodingError.Context(
          codingPath: StructuredPlace.path(element.place),
          debugDescription: "the array has \(offsets.count) elements"
        )
      )
    }
    let value = try read(reader, offsets[currentIndex], element)
    currentIndex += 1
    return value
  }

  /// An element, whose place is made only on demand, which is rare.
  private struct Element {
    let index: Int
    let array: StructuredPlace?
    var place: StructuredPlace { .element(index, array) }
  }

  /// Advances only if the next element is `nil`.
  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, reader.isNull(at: offsets[currentIndex]) else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try element { try $0.bool(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try element { try $0.text(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try element { try $0.double(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try element { try $0.float(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try element { try $0.integer(at: $1, in: $2.place) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try element { try $0.decode(type, at: $1, in: $2.place) }
  }

  // MARK: Nested containers

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try element {
      try StructuredDecoder(reader: $0, offset: $1, place: $2.place).container(keyedBy: type)
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element {
      try StructuredDecoder(reader: $0, offset: $1, place: $2.place).unkeyedContainer()
    }
  }

  mutating func superDecoder() throws -> any Decoder {
    try element { StructuredDecoder(reader: $0, offset: $1, place: $2.place) }
  }
}
