import Foundation

/// Makes a value from its readable parts, and from neutral values for the rest.
///
/// A getter must return a value even if the shape of a stored value differs from its type: for example after a structure
/// has gained a field. Readable bytes are kept; a field that is missing, or of another type, reads as nil, an
/// empty text, zero, the first case, an empty collection.
enum NeutralValue {
  /// Values may hold each other; a class that holds itself must not be followed for ever.
  private static let depthLimit = 32

  /// Makes a value.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - decoder: The readable values.
  ///   - depth: The number of enclosing values.
  /// - Returns: The value.
  /// - Throws: The error of the type's own `init(from:)`, if it accepts no neutral values.
  static func make<T: Decodable>(
    _ type: T.Type,
    from decoder: (any Decoder)? = nil,
    depth: Int = 0
  ) throws -> T {
    if let decoder, let value = try? T(from: decoder) { return value }
    if let value = simple(type) as? T { return value }
    guard depth < depthLimit else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(codingPath: [], debugDescription: "\(type) holds values without end")
      )
    }
    return try T(from: NeutralDecoder(base: decoder, depth: depth + 1))
  }

  /// The neutral value of a type that needs no decoding for it.
  static func simple(_ type: any Any.Type) -> Any? {
    if let optional = type as? any ExpressibleByNilLiteral.Type { return makeNil(optional) }
    if let column = columnType(type) { return absent(column) }
    if type == Decimal.self { return Decimal(0) }
    if let cases = type as? any CaseIterable.Type { return firstCase(cases) }
    if let value = firstPlainCase(of: type) { return value }
    if let collection = type as? any RangeReplaceableCollection.Type {
      return makeEmpty(collection)
    }
    if let set = type as? any SetAlgebra.Type { return makeEmptySet(set) }
    if let dictionary = type as? any ExpressibleByDictionaryLiteral.Type {
      return makeEmptyDictionary(dictionary)
    }
    return nil
  }

  private static func makeNil<T: ExpressibleByNilLiteral>(_: T.Type) -> Any { T(nilLiteral: ()) }
  private static func absent<T: _ColumnValue>(_: T.Type) -> Any { T._absent }
  private static func firstCase<T: CaseIterable>(_: T.Type) -> Any? { T.allCases.first }
  private static func makeEmpty<T: RangeReplaceableCollection>(_: T.Type) -> Any { T() }
  private static func makeEmptySet<T: SetAlgebra>(_: T.Type) -> Any { T() }
  private static func makeEmptyDictionary<T: ExpressibleByDictionaryLiteral>(_: T.Type) -> Any {
    let empty: T = [:]
    return empty
  }
}

// MARK: Enumerations

extension NeutralValue {
  /// The first case of an enumeration without associated values, whose type need not be `CaseIterable`.
  ///
  /// A type's numbers of cases, with and without payloads, are in its description, whose layout is part of
  /// Swift's ABI:
  ///
  ///     type          kind, 1 word (0x201 for an enumeration); address of the description
  ///     description   flags, parent, name, accessor and fields, 4 bytes each; number of cases with values (24 bits)
  ///                   and an offset (8 bits); number of cases without
  ///
  /// Cases without payloads are numbered from 0, in a byte, or in none if there is only one.
  static func firstPlainCase(of type: any Any.Type) -> Any? {
    let metadata = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    guard unsafe metadata[0] == 0x201,
      let description = unsafe UnsafeRawPointer(bitPattern: metadata[1])
    else {
      return nil
    }
    let payloadCaseCount =
      unsafe description.load(fromByteOffset: 20, as: UInt32.self) & 0x00FF_FFFF
    let plainCaseCount = unsafe description.load(fromByteOffset: 24, as: UInt32.self)
    guard payloadCaseCount == 0, 1...256 ~= plainCaseCount else { return nil }
    func zero<T>(_: T.Type) -> Any? {
      guard MemoryLayout<T>.size == (plainCaseCount == 1 ? 0 : 1) else { return nil }
      return unsafe withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { bytes -> Any? in
        unsafe bytes[0] = 0
        return unsafe bytes.baseAddress.map { unsafe $0.load(as: T.self) }
      }
    }
    return _openExistential(type, do: zero)
  }
}

// MARK: Decoding

/// The decoder passed to a value's `init(from:)` if neutral values must fill in.
private struct NeutralDecoder: Decoder {
  let base: (any Decoder)?
  let depth: Int

  var codingPath: [any CodingKey] { base?.codingPath ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { base?.userInfo ?? [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(
      NeutralKeyedContainer(base: try? base?.container(keyedBy: type), depth: depth)
    )
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    NeutralUnkeyedContainer(base: try? base?.unkeyedContainer(), depth: depth)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    NeutralSingleContainer(base: base, depth: depth)
  }
}

private struct NeutralKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let base: KeyedDecodingContainer<Key>?
  let depth: Int

  var codingPath: [any CodingKey] { base?.codingPath ?? [] }

  /// An enumeration whose cases have payloads looks here for its case.
  var allKeys: [Key] {
    if let keys = base?.allKeys, !keys.isEmpty { return keys }
    return (NeutralValue.firstPlainCase(of: Key.self) as? Key).map { [$0] } ?? []
  }

  func contains(_ key: Key) -> Bool { base?.contains(key) ?? false }
  func decodeNil(forKey key: Key) -> Bool { (try? base?.decodeNil(forKey: key)) ?? true }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if let value = try? base?.decode(type, forKey: key) { return value }
    return try NeutralValue.make(type, from: decoder(key), depth: depth)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedDecodingContainer<NestedKey> {
    NeutralDecoder(base: decoder(key), depth: depth + 1).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    NeutralDecoder(base: decoder(key), depth: depth + 1).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    NeutralDecoder(base: try? base?.superDecoder(), depth: depth + 1)
  }

  func superDecoder(forKey key: Key) -> any Decoder {
    NeutralDecoder(base: decoder(key), depth: depth + 1)
  }

  private func decoder(_ key: Key) -> (any Decoder)? { try? base?.superDecoder(forKey: key) }
}

private struct NeutralUnkeyedContainer: UnkeyedDecodingContainer {
  private var base: (any UnkeyedDecodingContainer)?
  private let depth: Int

  init(base: (any UnkeyedDecodingContainer)?, depth: Int) {
    self.base = base
    self.depth = depth
  }

  var codingPath: [any CodingKey] { base?.codingPath ?? [] }
  var count: Int? { base?.count ?? 0 }
  var isAtEnd: Bool { base?.isAtEnd ?? true }
  var currentIndex: Int { base?.currentIndex ?? 0 }

  mutating func decodeNil() -> Bool { (try? base?.decodeNil()) ?? true }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = try? base?.decode(type) { return value }
    return try NeutralValue.make(type, from: try? base?.superDecoder(), depth: depth)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedDecodingContainer<NestedKey> {
    NeutralDecoder(base: try? base?.superDecoder(), depth: depth + 1).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    NeutralDecoder(base: try? base?.superDecoder(), depth: depth + 1).unkeyedContainer()
  }

  mutating func superDecoder() -> any Decoder {
    NeutralDecoder(base: try? base?.superDecoder(), depth: depth + 1)
  }
}

private struct NeutralSingleContainer: SingleValueDecodingContainer {
  let base: (any Decoder)?
  let depth: Int

  var codingPath: [any CodingKey] { base?.codingPath ?? [] }

  func decodeNil() -> Bool { (try? base?.singleValueContainer().decodeNil()) ?? true }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = try? base?.singleValueContainer().decode(type) { return value }
    return try NeutralValue.make(type, from: base, depth: depth)
  }
}
