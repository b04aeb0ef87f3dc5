import Foundation
import RowFormat
import Testing

@testable import ModelRuntime

/// The bytes of a value, or `nil` if it is `nil`.
func structuredBytes(_ value: some Encodable) throws -> [UInt8]? {
  var buffer = ByteBuffer()
  guard try StructuredCoding.encode(value, into: &buffer) == .value else { return nil }
  return buffer.bytes.withUnsafeBytes { Array($0) }
}

func structured<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
  try bytes.withUnsafeBytes { try StructuredCoding.decode(type, from: $0.bytes) }
}

func notation(_ bytes: [UInt8]) -> String? {
  bytes.withUnsafeBytes { StructuredValue($0.bytes)?.description }
}

@Suite struct `A composite value` {
  struct Address: Codable, Hashable {
    var street: String
    var number: Int?
    var location: Location
  }
  struct Location: Codable, Hashable {
    var latitude: Double
    var longitude: Float
  }
  enum Size: String, Codable { case small, large }
  enum Shape: Codable, Hashable {
    case point
    case circle(radius: Double)
    case polygon([Int], closed: Bool)
    indirect case group([Shape])
  }

  private func expectRoundTrip<T: Codable & Equatable>(
    _ value: T,
    _ expected: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = try #require(try structuredBytes(value), sourceLocation: sourceLocation)
    #expect(notation(bytes) == expected, sourceLocation: sourceLocation)
    #expect(try structured(T.self, from: bytes) == value, sourceLocation: sourceLocation)
  }

  @Test func `is a map of its fields, in their order, without those that are nil`() throws {
    let address = Address(
      street: "Main \"St\"",
      number: nil,
      location: Location(latitude: 1.5, longitude: -2)
    )
    try expectRoundTrip(
      address,
      #"{"street": "Main \"St\"", "location": {"latitude": 1.5, "longitude": -2.0}}"#
    )
  }

  @Test func `may be an enumeration, raw or with payloads`() throws {
    try expectRoundTrip([Size.small, .large], #"["small", "large"]"#)
    try expectRoundTrip(Shape.point, #"{"point": {}}"#)
    try expectRoundTrip(Shape.circle(radius: 2), #"{"circle": {"radius": 2.0}}"#)
    try expectRoundTrip(
      Shape.group([.point, .polygon([1, 2], closed: true), .group([])]),
      #"{"group": {"_0": [{"point": {}}, {"polygon": {"_0": [1, 2], "closed": true}}, {"group": {"_0": []}}]}}"#
    )
  }

  @Test func `may be a collection`() throws {
    try expectRoundTrip(["a", "", "ü\u{1}\n"], #"["a", "", "ü\u0001\n"]"#)
    try expectRoundTrip([1: "one"], #"{"1": "one"}"#)
    try expectRoundTrip([[String: Bool]](), "[]")
    try expectRoundTrip([true, nil, false], "[true, null, false]")
    try expectRoundTrip(Set([7]), "[7]")
    try expectRoundTrip(["k": [1.5]], #"{"k": [1.5]}"#)
  }

  @Test(arguments: [0, 1, 23, 24, 255, 256, 65_535, 65_536])
  func `may have any number of elements`(count: Int) throws {
    let values = (0..<count).map { $0 % 3 == 0 ? nil : UInt16(truncatingIfNeeded: $0) }
    let nested = ["before": [[nil]], "values": [values]]
    let bytes = try #require(try structuredBytes(nested))
    #expect(try structured([String: [[UInt16?]]].self, from: bytes) == nested)
    let pairs = Dictionary(uniqueKeysWithValues: (0..<min(count, 999)).map { ("\($0)", [$0]) })
    #expect(try structured([String: [Int]].self, from: structuredBytes(pairs) ?? []) == pairs)
  }

  @Test func `keeps the types of Foundation exactly`() throws {
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    try expectRoundTrip([uuid], "[37(h'00112233445566778899aabbccddeeff')]")
    try expectRoundTrip([Data([0, 15, 255])], "[h'000fff']")
    let url = try #require(URL(string: "https://example.org/a?b#c"))
    try expectRoundTrip([url], #"[32("https://example.org/a?b#c")]"#)
    // One that seconds since 1970 cannot hold.
    let date = Date(timeIntervalSinceReferenceDate: 800_000_000.000_000_1)
    try expectRoundTrip([date], "[2001(800000000.0000001)]")
    try expectRoundTrip(
      [date, .distantPast, .distantFuture].map { $0 }.last,
      "2001(63113904000.0)"
    )
    let decimal = try #require(Decimal(string: "-123456789012345678901234567890.12345678"))
    try expectRoundTrip([decimal, 0], #"["-123456789012345678901234567890.12345678", "0"]"#)
  }

  @Test func `keeps integers of every width`() throws {
    try expectRoundTrip(
      [Int64.min, -256, -25, -24, -1, 0, 23, 24, 255, 256, 65536, 1 << 32, .max],
      "[-9223372036854775808, -256, -25, -24, -1, 0, 23, 24, 255, 256, 65536, 4294967296, 9223372036854775807]"
    )
    try expectRoundTrip([UInt64.max, 0], "[18446744073709551615, 0]")
    try expectRoundTrip([Int8.min, .max], "[-128, 127]")
    try expectRoundTrip([UInt32.max], "[4294967295]")
  }

  @Test(arguments: [0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .pi])
  func `keeps floats bit by bit`(value: Double) throws {
    let bytes = try #require(try structuredBytes(value))
    #expect(try structured(Double.self, from: bytes).bitPattern == value.bitPattern)
    let narrow = Float(value)
    let narrowBytes = try #require(try structuredBytes([narrow]))
    #expect(try structured([Float].self, from: narrowBytes) == [narrow])
  }

  @Test func `that is not a number stays one`() throws {
    #expect(try structured(Double.self, from: structuredBytes(Double.nan) ?? []).isNaN)
    #expect(try structured([Float].self, from: structuredBytes([Float.nan]) ?? [])[0].isNaN)
  }

  @Test func `that is nil takes no bytes`() throws {
    #expect(try structuredBytes(Address?.none) == nil)
    #expect(try structuredBytes([Address?.none]) == [0x81, 0xF6])
    var buffer = ByteBuffer()
    buffer.append(UInt8(7))
    #expect(try StructuredCoding.encode(Int?.none, into: &buffer) == .null)
    #expect(buffer.count == 1)
  }

  @Test func `without fields is an empty map`() throws {
    struct Empty: Codable, Equatable {}
    try expectRoundTrip(Empty(), "{}")
    struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
    #expect(try structuredBytes([Silent()]) == [0x81, 0xA0])
  }
}
