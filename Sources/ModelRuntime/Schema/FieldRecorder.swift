import Foundation

/// Finds the fields of a `Decodable` type by letting it decode an empty value: zeros, empty texts
/// and empty collections.
///
/// Types with their own `init(from:)` may refuse such a value; then only the fields requested
/// up to there are known.
final class FieldRecorder {
  struct Field {
    let name: String
    /// The type of the field; optional, if it may be absent.
    let type: any Any.Type
  }

  private(set) var fields: [Field] = []
  /// The enclosing types: a type inside itself is not followed.
  private let path: [ObjectIdentifier]

  private init(path: [ObjectIdentifier]) { self.path = path }

  /// Returns the fields of a type, or none if it is not decoded from fields.
  static func fields(of type: any Any.Type) -> [Field] {
    let type = TypeMetadata.unwrapped(type)
    guard let type = type as? any Decodable.Type else { return [] }
    let recorder = FieldRecorder(path: [ObjectIdentifier(type)])
    _ = try? type.init(from: RecordingDecoder(recorder: recorder))
    return recorder.fields
  }

  func record<T>(_ name: String, _ type: T.Type) {
    if !fields.contains(where: { $0.name == name }) { fields.append(Field(name: name, type: type)) }
  }

  /// Makes an empty value.
  func nothing<T: Decodable>(_ type: T.Type) throws -> T {
    if let column = columnType(type), let value = column._absent as? T {
      return value
    }
    if let value = Decimal.zero as? T { return value }
    if let value = firstCase(of: type) { return value }
    guard !path.contains(ObjectIdentifier(type)) else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(codingPath: [], debugDescription: "\(type) contains itself")
      )
    }
    let inner = FieldRecorder(path: path + [ObjectIdentifier(type)])
    return try T(from: RecordingDecoder(recorder: inner))
  }

  /// The first case of an enumeration with raw values, none of which need be "" or 0.
  private func firstCase<T>(of type: T.Type) -> T? {
    guard type is any RawRepresentable.Type, TypeMetadata.isEnumeration(type),
      MemoryLayout<T>.size == 1
    else { return nil }
    // Cases without payloads are numbered in the order of their declaration.
    return unsafe unsafeBitCast(UInt8(0), to: T.self)
  }
}

/// A decoder that has every requested value.
private struct RecordingDecoder: Decoder {
  let recorder: FieldRecorder
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RecordingKeyedContainer(recorder: recorder))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { EmptyUnkeyedContainer() }
  func singleValueContainer() -> any SingleValueDecodingContainer {
    RecordingSingleContainer(recorder: recorder)
  }
}

private struct RecordingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let recorder: FieldRecorder
  var codingPath: [any CodingKey] { [] }
  // An enumeration with payloads looks here for its case, and finds none.
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    recorder.record(key.stringValue, type)
    return try recorder.nothing(type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    recorder.record(key.stringValue, T?.self)
    return nil
  }

  // The library calls these, and not the generic one above, for the types it supports itself.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { absent(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { absent(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { absent(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? { absent(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { absent(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? { absent(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? { absent(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? { absent(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { absent(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? { absent(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? { absent(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? { absent(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? { absent(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? { absent(type, key) }

  private func absent<T>(_ type: T.Type, _ key: Key) -> T? {
    recorder.record(key.stringValue, T?.self)
    return nil
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    throw RecordingKeyedContainer.unknownShape
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    EmptyUnkeyedContainer()
  }
  func superDecoder() -> any Decoder { RecordingDecoder(recorder: recorder) }
  func superDecoder(forKey key: Key) -> any Decoder { RecordingDecoder(recorder: recorder) }

  private static var unknownShape: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "there is no value, only a shape"))
  }
}

private struct RecordingSingleContainer: SingleValueDecodingContainer {
  let recorder: FieldRecorder
  var codingPath: [any CodingKey] { [] }
  func decodeNil() -> Bool { true }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try recorder.nothing(type) }
}

/// An array without elements.
private struct EmptyUnkeyedContainer: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  private func end() -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "the array is empty"))
  }
  func decodeNil() throws -> Bool { throw end() }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { throw end() }
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> { throw end() }
  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw end() }
  func superDecoder() throws -> any Decoder { throw end() }
}
