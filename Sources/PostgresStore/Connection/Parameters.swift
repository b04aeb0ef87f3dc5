#if PostgreSQL
import Foundation
import RowFormat

/// The types of parameters, by the numbers that every server gives its own types.
enum ServerType: UInt32 {
  case bool = 16
  case bytea = 17
  case bigint = 20
  case text = 25
  case double = 701
  case boolArray = 1000
  case byteaArray = 1001
  case textArray = 1009
  case bigintArray = 1016
  case doubleArray = 1022
  case timestamp = 1184
  case timestampArray = 1185
  case uuid = 2950
  case uuidArray = 2951
  case jsonb = 3802
  case jsonbArray = 3807

  /// The type of an array of such values.
  var array: ServerType {
    switch self {
    case .bool: .boolArray
    case .bytea: .byteaArray
    case .bigint: .bigintArray
    case .text: .textArray
    case .double: .doubleArray
    case .timestamp: .timestampArray
    case .uuid: .uuidArray
    case .jsonb: .jsonbArray
    default: preconditionFailure("\(self) is an array already")
    }
  }

  /// The type's name in SQL.
  var name: String {
    switch self {
    case .bool: "boolean"
    case .bytea: "bytea"
    case .bigint: "bigint"
    case .text: "text"
    case .double: "double precision"
    case .timestamp: "timestamptz"
    case .uuid: "uuid"
    case .jsonb: "jsonb"
    case .boolArray: "boolean[]"
    case .byteaArray: "bytea[]"
    case .textArray: "text[]"
    case .bigintArray: "bigint[]"
    case .doubleArray: "double precision[]"
    case .timestampArray: "timestamptz[]"
    case .uuidArray: "uuid[]"
    case .jsonbArray: "jsonb[]"
    }
  }
}

/// The parameters of one statement, in the server's binary form.
struct Parameters: Sendable {
  private(set) var types: [ServerType] = []
  private(set) var bytes: [UInt8] = []
  /// The range of each value in ``bytes``; `nil` for null.
  private(set) var ranges: [Range<Int>?] = []

  var count: Int { ranges.count }

  init() {}

  mutating func append(_ value: Int64) {
    append(.bigint) { $0.appendBigEndian(UInt64(bitPattern: value)) }
  }
  mutating func append(_ value: Int) { append(Int64(value)) }
  mutating func append(_ value: Double) {
    append(.double) { $0.appendBigEndian(value.bitPattern) }
  }
  mutating func append(_ value: Bool) { append(.bool) { $0.append(value ? 1 : 0) } }
  mutating func append(_ value: String) { append(.text) { $0.append(contentsOf: value.utf8) } }
  mutating func append(timestamp value: Int64) {
    append(.timestamp) { $0.appendBigEndian(UInt64(bitPattern: value)) }
  }
  mutating func append(_ value: UUID) {
    append(.uuid) { bytes in withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) } }
  }
  mutating func append(_ value: Data) { append(.bytea) { $0.append(contentsOf: value) } }

  mutating func appendNull(_ type: ServerType) {
    types.append(type)
    ranges.append(nil)
  }

  mutating func append(_ value: String?) {
    if let value { append(value) } else { appendNull(.text) }
  }

  /// Appends an array.
  mutating func append(_ array: ArrayParameter) {
    append(array.elementType.array) { array.write(to: &$0) }
  }

  /// Appends the only element of an array, as a value of its own.
  mutating func append(onlyElementOf array: ArrayParameter) {
    precondition(array.count == 1, "an array of \(array.count) elements is not one value")
    guard let element = array.onlyElement else { return appendNull(array.elementType) }
    append(array.elementType) { $0.append(contentsOf: element) }
  }

  mutating func append(_ values: some Sequence<Int64>) {
    var array = ArrayParameter(.bigint)
    for value in values { array.append(value) }
    append(array)
  }

  mutating func append(_ values: some Sequence<String>) {
    var array = ArrayParameter(.text)
    for value in values { array.append(.text) { $0.append(contentsOf: value.utf8) } }
    append(array)
  }

  mutating func append(_ type: ServerType, _ write: (inout [UInt8]) -> Void) {
    if ranges.isEmpty { reserve() }
    let start = bytes.count
    write(&bytes)
    types.append(type)
    ranges.append(start..<bytes.count)
  }

  /// Makes room for the values of most statements at once.
  private mutating func reserve() {
    bytes.reserveCapacity(256)
    types.reserveCapacity(16)
    ranges.reserveCapacity(16)
  }
}

/// An array of one dimension, as a parameter: one statement with arrays does what one statement for each row would.
struct ArrayParameter: Sendable {
  let elementType: ServerType
  private(set) var count = 0
  private var hasNulls = false
  /// The elements, each behind its length.
  private var elements: [UInt8] = []

  init(_ elementType: ServerType) { self.elementType = elementType }

  var byteCount: Int { elements.count }

  mutating func append(_ value: Int64) { append(word: UInt64(bitPattern: value)) }

  /// Appends a value of eight bytes.
  mutating func append(word: UInt64) {
    let high = UInt32(truncatingIfNeeded: word >> 32)
    let low = UInt32(truncatingIfNeeded: word)
    let element = (UInt32(8).bigEndian, high.bigEndian, low.bigEndian)
    withUnsafeBytes(of: element) { appendElement($0) }
  }

  /// Appends a value of such bytes.
  mutating func append(bytes: UnsafeRawBufferPointer) {
    withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { appendElement($0) }
    elements.append(contentsOf: bytes)
  }

  mutating func appendNull() {
    hasNulls = true
    withUnsafeBytes(of: UInt32.max) { appendElement($0) }
  }

  /// Appends an element, or its beginning.
  private mutating func appendElement(_ bytes: UnsafeRawBufferPointer) {
    if count == 0 { elements.reserveCapacity(48) }
    count += 1
    elements.append(contentsOf: bytes)
  }

  mutating func append(_ type: ServerType, _ write: (inout [UInt8]) throws -> Void) rethrows {
    assert(type == elementType)
    let start = elements.count
    elements.appendBigEndian(UInt32(0))
    try write(&elements)
    let length = UInt32(elements.count - start - 4)
    for place in 0..<4 {
      elements[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * place))
    }
    count += 1
  }

  /// The bytes of the only element; `nil` for null.
  fileprivate var onlyElement: ArraySlice<UInt8>? { hasNulls ? nil : elements.dropFirst(4) }

  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.appendBigEndian(UInt32(count == 0 ? 0 : 1))
    bytes.appendBigEndian(UInt32(hasNulls ? 1 : 0))
    bytes.appendBigEndian(elementType.rawValue)
    if count == 0 { return }
    bytes.appendBigEndian(UInt32(count))
    bytes.appendBigEndian(UInt32(1))
    bytes.append(contentsOf: elements)
  }
}

extension [UInt8] {
  mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
#endif
