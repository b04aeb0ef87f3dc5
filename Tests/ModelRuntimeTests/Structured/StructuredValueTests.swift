import Foundation
import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `A field of a composite value` {
  struct Person: Encodable {
    var name = "Ada"
    var address: Address? = Address()
    var born = Date(timeIntervalSinceReferenceDate: 5)
    var id = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
    var big = UInt64.max
  }
  struct Address: Encodable {
    var tags = ["a", "b"]
    var city = "London"
    var zip: Int? = 7
  }

  private func value(at path: [String], in value: some Encodable) throws -> StructuredValue? {
    var buffer = ByteBuffer()
    _ = try StructuredCoding.encode(value, into: &buffer)
    return StructuredCoding.value(at: path, in: buffer.bytes)
  }

  @Test(
    arguments: [
      (["name"], .text("Ada")),
      (["address", "city"], .text("London")),
      (["address", "zip"], .integer(7)),
      (["address", "tags"], .array([.text("a"), .text("b")])),
      (["born"], .date(Date(timeIntervalSinceReferenceDate: 5))),
      (["id"], .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))),
      (["big"], .unsigned(.max)),
      (["nam"], nil), (["names"], nil), (["address", "name"], nil), (["name", "x"], nil),
      (["address", "tags", "0"], nil),
    ] as [([String], StructuredValue?)]
  )
  func `is found by its path`(path: [String], expected: StructuredValue?) throws {
    #expect(try value(at: path, in: Person()) == expected)
  }

  @Test func `of nothing is not there`() throws {
    #expect(try value(at: ["address", "city"], in: Person(address: nil)) == nil)
    #expect(try value(at: ["address", "zip"], in: Person(address: Address(zip: nil))) == nil)
  }

  @Test func `is the whole value at the empty path`() throws {
    #expect(try value(at: [], in: [1]) == .array([.integer(1)]))
  }

  @Test func `can be asked of a value that has been read`() throws {
    let whole = try #require(try value(at: [], in: Person()))
    #expect(whole["address"]?["city"] == .text("London"))
    #expect(whole["city"] == nil)
    #expect(whole["name"]?["x"] == nil)
  }
}

@Suite struct `The notation of a composite value` {
  // From RFC 8949, appendix A, but for spacing and the dates.
  @Test(
    arguments: [
      ([0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "-18446744073709551616"),
      ([0xF7], "undefined"), ([0xF0], "simple(16)"), ([0xF8, 0xFF], "simple(255)"),
      ([0xF9, 0x7E, 0x00], "NaN"), ([0xF9, 0xFC, 0x00], "-Infinity"),
      ([0xC1, 0x1A, 0x51, 0x4B, 0x67, 0xB0], "1(1363896240)"),
      ([0x5F, 0x42, 0x01, 0x02, 0x43, 0x03, 0x04, 0x05, 0xFF], "h'0102030405'"),
      (
        [0x7F, 0x65, 0x73, 0x74, 0x72, 0x65, 0x61, 0x64, 0x6D, 0x69, 0x6E, 0x67, 0xFF],
        "\"streaming\""
      ),
      ([0x9F, 0x01, 0x82, 0x02, 0x03, 0x9F, 0x04, 0x05, 0xFF, 0xFF], "[1, [2, 3], [4, 5]]"),
      (
        [0xBF, 0x61, 0x61, 0x01, 0x61, 0x62, 0x9F, 0x02, 0x03, 0xFF, 0xFF],
        "{\"a\": 1, \"b\": [2, 3]}"
      ),
      ([0xA1, 0x01, 0x02], "{1: 2}"),
      ([0x64, 0xF0, 0x90, 0x85, 0x91], "\"\u{10151}\""),
    ] as [([UInt8], String)]
  )
  func `is that of the standard`(bytes: [UInt8], expected: String) {
    #expect(notation(bytes) == expected)
  }

  @Test func `of lengths that are not known beforehand is read as any other`() throws {
    let bytes: [UInt8] = [
      0xBF, 0x7F, 0x61, 0x61, 0x61, 0x62, 0xFF, 0x9F, 0x01, 0x02, 0xFF, 0xFF,
    ]
    #expect(try structured([String: [Int]].self, from: bytes) == ["ab": [1, 2]])
  }
}
