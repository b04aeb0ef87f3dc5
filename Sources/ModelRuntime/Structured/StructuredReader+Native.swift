import Foundation

extension StructuredReader {
  /// Reads a value of any type: in its native form here, or by its `init(from:)`.
  func decode<T: Decodable>(
    _ type: T.Type,
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws -> T {
    if let value: T = try native(at: offset, in: place()) { return value }
    return try T(from: StructuredDecoder(reader: self, offset: offset, place: place()))
  }

  /// Reads a value of a type with a native form here, or returns `nil` for any other type.
  private func native<T>(
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws -> T? {
    if T.self == String.self { return try text(at: offset, in: place()) as? T }
    if T.self == Int.self { return try (integer(at: offset, in: place()) as Int) as? T }
    if T.self == Double.self { return try double(at: offset, in: place()) as? T }
    if T.self == Date.self {
      try checkTag(StructuredTag.referenceDate, of: T.self, at: offset, in: place())
      let seconds = try double(at: offset, in: place())
      return Date(timeIntervalSinceReferenceDate: seconds) as? T
    }
    if T.self == UUID.self { return try uuid(at: offset, in: place()) as? T }
    if T.self == Data.self { return try data(at: offset, in: place()) as? T }
    if T.self == URL.self {
      try checkTag(StructuredTag.uri, of: T.self, at: offset, in: place())
      let text = try text(at: offset, in: place())
      guard let url = URL(string: text) else { throw corrupted("\"\(text)\" is no URL", place()) }
      return url as? T
    }
    if T.self == Decimal.self { return try decimal(at: offset, in: place()) as? T }
    return try list(at: offset, in: place())
  }

  /// Reads the arrays that models hold most often without making each element decode itself.
  private func list<T>(
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws -> T? {
    guard T.self == [String].self || T.self == [Int].self || T.self == [Double].self else {
      return nil
    }
    let outer = place()
    let offsets = try elements(at: offset, in: outer)
    if T.self == [String].self {
      return try offsets.enumerated().map { index, offset in
        try text(at: offset, in: .element(index, outer))
      } as? T
    }
    if T.self == [Int].self {
      return try offsets.enumerated().map { index, offset in
        try integer(at: offset, in: .element(index, outer)) as Int
      } as? T
    }
    return try offsets.enumerated().map { index, offset in
      try double(at: offset, in: .element(index, outer))
    } as? T
  }

  /// Refuses an item tagged as something else, such as a date that counts from another year.
  private func checkTag(
    _ expected: UInt64,
    of type: Any.Type,
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws {
    guard let tag = head(at: offset)?.tag, tag != expected else { return }
    throw mismatch(type, at: offset, place())
  }

  private func uuid(at offset: Int, in place: @autoclosure () -> StructuredPlace?) throws -> UUID {
    try checkTag(StructuredTag.uuid, of: UUID.self, at: offset, in: place())
    guard let item = head(at: offset)?.head, item.major == .bytes else {
      throw mismatch(UUID.self, at: offset, place())
    }
    let uuid = unsafe withString(of: item) { bytes in
      unsafe bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    }
    if let uuid { return uuid }
    throw corrupted("a UUID takes 16 bytes, found \(item.argument)", place())
  }

  /// Reads a decimal number from its text, or from the integer or float that it may once have been.
  private func decimal(
    at offset: Int,
    in place: @autoclosure () -> StructuredPlace?
  ) throws -> Decimal {
    guard let item = head(at: offset)?.head else {
      throw mismatch(Decimal.self, at: offset, place())
    }
    switch item.major {
    case .unsigned: return Decimal(item.argument)
    case .negative: return -1 - Decimal(item.argument)
    case .simple:
      let value = try double(at: offset, in: place())
      // The intended number: `Decimal(19.99)` is a little less.
      return Decimal(string: value.description, locale: nil) ?? Decimal(value)
    default:
      let text = try text(at: offset, in: place())
      if let value = Decimal(exactly: text) { return value }
      throw corrupted("\"\(text)\" is no decimal number", place())
    }
  }
}

extension Decimal {
  /// Parses the output of `description`, and nothing else: `Decimal(string:)` ignores trailing text.
  fileprivate init?(exactly text: String) {
    if text == Decimal.nan.description {
      self = .nan
      return
    }
    guard let value = Decimal(string: text, locale: nil), value.description == text else {
      return nil
    }
    self = value
  }
}
