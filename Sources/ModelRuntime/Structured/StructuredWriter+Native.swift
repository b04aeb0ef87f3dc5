import Foundation

extension StructuredWriter {
  /// Writes a value of a type with a native form here.
  ///
  /// Types are compared before they are cast, since comparing costs a pointer and casting a search.
  ///
  /// - Returns: Whether the value is of such a type; if not, nothing is written.
  func writeNative<T>(_ value: T) -> Bool {
    if T.self == String.self, let value = value as? String {
      write(value)
    } else if T.self == Int.self, let value = value as? Int {
      write(value)
    } else if T.self == Double.self, let value = value as? Double {
      write(value)
    } else if T.self == Date.self, let value = value as? Date {
      write(tag: StructuredTag.referenceDate)
      write(value.timeIntervalSinceReferenceDate)
    } else if T.self == UUID.self, let value = value as? UUID {
      write(tag: StructuredTag.uuid)
      unsafe withUnsafeBytes(of: value.uuid) { unsafe write(bytes: $0) }
    } else if T.self == Data.self, let value = value as? Data {
      unsafe value.withUnsafeBytes { unsafe write(bytes: $0) }
    } else if T.self == URL.self, let value = value as? URL {
      write(tag: StructuredTag.uri)
      write(value.absoluteString)
    } else if T.self == Decimal.self, let value = value as? Decimal {
      write(value.description)
    } else {
      return writeList(value)
    }
    return true
  }

  /// Writes the arrays that models hold most often without making each element encode itself.
  private func writeList<T>(_ value: T) -> Bool {
    if T.self == [String].self, let value = value as? [String] {
      writeArrayHead(value.count)
      for element in value { write(element) }
    } else if T.self == [Int].self, let value = value as? [Int] {
      writeArrayHead(value.count)
      for element in value { write(element) }
    } else if T.self == [Double].self, let value = value as? [Double] {
      writeArrayHead(value.count)
      for element in value { write(element) }
    } else {
      return false
    }
    return true
  }
}
