import Foundation
import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `Damaged bytes of a composite value` {
  struct Record: Codable, Equatable {
    var name = "a name that is long enough to need a length byte"
    var values = [1, 300, -70_000]
    var date = Date(timeIntervalSinceReferenceDate: 1)
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url = URL(filePath: "/tmp/x")
    var amount = Decimal(string: "12.5")
    var data = Data([1, 2, 3])
    var inner = ["k": [true, nil]]
    var ratio: Float = 0.5
  }

  @Test func `that are cut off at any place are refused`() throws {
    let bytes = try #require(try structuredBytes(Record()))
    for count in 0..<bytes.count {
      #expect(throws: DecodingError.self) {
        try structured(Record.self, from: Array(bytes[..<count]))
      }
    }
  }

  @Test(arguments: 0..<8)
  func `that are flipped at any place are refused or another value, and never a trap`(
    bit: Int
  ) throws {
    let bytes = try #require(try structuredBytes(Record()))
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1 << UInt8(bit)
      do {
        #expect(try structured(Record.self, from: damaged) != Record())
      } catch {
        #expect(error is DecodingError)
      }
      _ = notation(damaged)
    }
  }

  @Test func `that are anything at all never trap`() {
    var generator = SplitMix(state: 7)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
      _ = try? structured(Record.self, from: bytes)
      _ = try? structured([String: [UInt8?]].self, from: bytes)
      _ = try? structured([Decimal].self, from: bytes)
      _ = notation(bytes)
      _ = bytes.withUnsafeBytes { StructuredCoding.value(at: ["a", ""], in: $0.bytes) }
    }
  }

  /// Random bytes that are the same at every run.
  struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  @Test(
    arguments: [
      [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // An array of 2^64 - 1 elements.
      [0xBB, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // A map of 2^63 - 1 entries.
      [0x7B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // A text of 2^63 - 1 bytes.
      [0x9A, 0x00, 0x10, 0x00, 0x00, 0x01],  // An array of a million elements in one byte.
      [0xFF], [0x1C], [0x1F], [0xDF], [0xF8, 0x14], [0x5F, 0x61, 0x61, 0xFF], [0xBF, 0x01, 0xFF],
      [0x81], [0x61], [0x01, 0x01], [],
    ] as [[UInt8]]
  )
  func `that promise what is not there are refused`(bytes: [UInt8]) {
    #expect(throws: DecodingError.self) { try structured([Int].self, from: bytes) }
    #expect(notation(bytes) == nil)
  }

  @Test(arguments: [0x81, 0x9F, 0xA1, 0xBF, 0xC1] as [UInt8])
  func `that are nested without end are refused`(head: UInt8) {
    let bytes = [UInt8](repeating: head, count: 1_000_000)
    #expect(throws: DecodingError.self) { try structured([Int].self, from: bytes) }
    #expect(notation(bytes) == nil)
    #expect(bytes.withUnsafeBytes { StructuredCoding.value(at: ["a"], in: $0.bytes) } == nil)
  }

  final class Nest: Codable, Equatable {
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var inner: [Nest] = []
    init(depth: Int) { if depth > 0 { inner = [Nest(depth: depth - 1)] } }
    static func == (lhs: Nest, rhs: Nest) -> Bool { lhs.inner == rhs.inner }
  }

  @Test func `cannot be made by nesting values deeper than can be read`() throws {
    // Each level is a map and an array.
    let deepest = Nest(depth: StructuredCoding.depthLimit / 2 - 1)
    let bytes = try #require(try structuredBytes(deepest))
    #expect(try structured(Nest.self, from: bytes) == deepest)
    #expect(throws: EncodingError.self) {
      try structuredBytes(Nest(depth: StructuredCoding.depthLimit / 2))
    }
  }

  @Test func `that are not UTF-8 are refused where they are read`() {
    #expect(throws: DecodingError.self) { try structured([String].self, from: [0x81, 0x61, 0xFF]) }
  }
}

@Suite struct `A number of another type` {
  @Test func `is read when it fits`() throws {
    #expect(try structured([Int8].self, from: [0x82, 0x18, 0x7F, 0x38, 0x7F]) == [127, -128])
    #expect(try structured([Double].self, from: [0x82, 0x05, 0x24]) == [5, -5])
    #expect(try structured([Int].self, from: [0x81, 0xFA, 0x40, 0x00, 0x00, 0x00]) == [2])
    #expect(try structured([Decimal].self, from: [0x82, 0x05, 0x24]) == [5, -5])
    let price: [UInt8] = [0x81, 0xFB, 0x40, 0x33, 0xFD, 0x70, 0xA3, 0xD7, 0x0A, 0x3D]
    #expect(try structured([Decimal].self, from: price) == [Decimal(string: "19.99")])
  }

  @Test(
    arguments: [
      [0x81, 0x18, 0x80],  // 128
      [0x81, 0x38, 0x80],  // -129
      [0x81, 0xF9, 0x3E, 0x00],  // 1.5
      [0x81, 0xF9, 0x7E, 0x00],  // NaN
      [0x81, 0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // -2^64
      [0x81, 0xF5],  // true
    ] as [[UInt8]]
  )
  func `is refused when it does not`(bytes: [UInt8]) {
    #expect(throws: DecodingError.self) { try structured([Int8].self, from: bytes) }
  }

  // From RFC 8949, appendix A.
  @Test(
    arguments: [
      ([0xF9, 0x00, 0x01], 5.960464477539063e-8), ([0xF9, 0x04, 0x00], 0.00006103515625),
      ([0xF9, 0x3C, 0x00], 1), ([0xF9, 0x7B, 0xFF], 65504), ([0xF9, 0xC4, 0x00], -4),
      ([0xF9, 0x7C, 0x00], .infinity), ([0xF9, 0x80, 0x00], -0.0),
      ([0xFA, 0x47, 0xC3, 0x50, 0x00], 100_000),
    ] as [([UInt8], Double)]
  )
  func `may be a float of any width`(bytes: [UInt8], expected: Double) throws {
    #expect(try structured(Double.self, from: bytes) == expected)
  }

  @Test func `may be too big for a Float`() throws {
    #expect(throws: DecodingError.self) {
      try structured([Float].self, from: structuredBytes([1e300]) ?? [])
    }
  }
}
