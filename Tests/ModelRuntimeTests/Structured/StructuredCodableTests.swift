import Foundation
import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `A type's own way of coding` {
  @Test func `decides the names of the fields`() throws {
    struct Renamed: Codable, Equatable {
      var name = "n"
      var secret = "kept out"
      enum CodingKeys: String, CodingKey { case name = "full name" }
    }
    let bytes = try #require(try structuredBytes(Renamed(secret: "not coded")))
    #expect(notation(bytes) == #"{"full name": "n"}"#)
    #expect(try structured(Renamed.self, from: bytes) == Renamed())
  }

  class Vehicle: Codable {
    var wheels = 4
  }

  final class Truck: Vehicle {
    var load = 3.5
    var driver: Vehicle?

    enum CodingKeys: CodingKey { case load, driver }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      load = try container.decode(Double.self, forKey: .load)
      driver = try container.decodeIfPresent(Vehicle.self, forKey: .driver)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      // The superclass goes first, and the container is used again after it.
      try super.encode(to: container.superEncoder())
      try container.encode(load, forKey: .load)
      try container.encodeIfPresent(driver, forKey: .driver)
    }
  }

  @Test func `may hand its superclass an encoder`() throws {
    let truck = Truck()
    truck.wheels = 18
    truck.driver = Vehicle()
    let bytes = try #require(try structuredBytes(truck))
    #expect(notation(bytes) == #"{"super": {"wheels": 18}, "load": 3.5, "driver": {"wheels": 4}}"#)
    let copy = try structured(Truck.self, from: bytes)
    #expect(copy.wheels == 18 && copy.load == 3.5 && copy.driver?.wheels == 4)
  }

  struct Interleaved: Encodable {
    enum Key: CodingKey { case left, right, list, last }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var left = container.nestedContainer(keyedBy: Key.self, forKey: .left)
      var right = container.nestedContainer(keyedBy: Key.self, forKey: .right)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try right.encode(1, forKey: .left)
      try left.encode(2, forKey: .left)
      try container.encode("end", forKey: .last)
      for index in 0..<30 { try list.encode(index) }
      var inner = list.nestedContainer(keyedBy: Key.self)
      var single = list.superEncoder().singleValueContainer()
      try single.encode("super")
      try right.encode(3, forKey: .right)
      try inner.encode(true, forKey: .last)
      var again = encoder.container(keyedBy: Key.self)
      try again.encodeNil(forKey: .right)
    }
  }

  @Test func `may fill nested containers in any order`() throws {
    let numbers = (0..<30).map(String.init).joined(separator: ", ")
    #expect(
      notation(try #require(try structuredBytes([Interleaved()]))) == """
        [{"left": {"left": 2}, "right": {"left": 1, "right": 3}, \
        "list": [\(numbers), {"last": true}, "super"], "last": "end", "right": null}]
        """
    )
  }

  @Test func `may read nested containers and look ahead`() throws {
    struct Reader: Decodable {
      var seen: [String] = []
      enum Key: String, CodingKey { case list, map, missing }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        seen.append("\(container.allKeys.map(\.rawValue)) \(container.contains(.missing))")
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        seen.append("\(list.count ?? -1)")
        #expect(throws: DecodingError.self) { try list.decode(Bool.self) }
        // What failed has not been passed.
        seen.append("\(list.currentIndex) \(try list.decode(Int.self))")
        seen.append("\(try list.decodeNil()) \(try list.decodeNil())")
        var inner = try list.nestedUnkeyedContainer()
        seen.append("\(try inner.decode(String.self)) \(inner.isAtEnd) \(list.isAtEnd)")
        #expect(throws: DecodingError.self) { try inner.decode(Int.self) }
        let map = try container.nestedContainer(keyedBy: Key.self, forKey: .map)
        seen.append("\(try map.decodeNil(forKey: .list))")
      }
    }
    // {"list": [5, null, ["x"]], "map": {"list": null}}
    let bytes: [UInt8] = [
      0xA2, 0x64, 0x6C, 0x69, 0x73, 0x74, 0x83, 0x05, 0xF6, 0x81, 0x61, 0x78,
      0x63, 0x6D, 0x61, 0x70, 0xA1, 0x64, 0x6C, 0x69, 0x73, 0x74, 0xF6,
    ]
    #expect(
      try structured(Reader.self, from: bytes).seen == [
        #"["list", "map"] false"#, "3", "0 5", "true false", "x true true", "true",
      ]
    )
  }

  @Test func `may catch an error and go on`() throws {
    struct Picky: Encodable {
      struct Refusal: Error {}
      enum Key: CodingKey { case a, b, c }
      struct Bad: Encodable {
        func encode(to encoder: any Encoder) throws {
          var container = encoder.container(keyedBy: Key.self)
          try container.encode("half", forKey: .a)
          _ = container.nestedContainer(keyedBy: Key.self, forKey: .b)
          throw Refusal()
        }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
        #expect(throws: Refusal.self) { try container.encode(Bad(), forKey: .b) }
        try container.encode([2], forKey: .c)
      }
    }
    #expect(notation(try #require(try structuredBytes(Picky()))) == #"{"a": 1, "c": [2]}"#)
  }

  @Test func `that asks for two kinds of container is refused`() {
    struct Torn: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        _ = encoder.container(keyedBy: StructuredKey.self)
      }
    }
    #expect(throws: EncodingError.self) { try structuredBytes(Torn()) }
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try structuredBytes(Twice()) }
  }

  final class Keeper: Codable {
    nonisolated(unsafe) static var decoder: (any Decoder)?
    nonisolated(unsafe) static var encoder: (any Encoder)?
    var field = "value"
    init() {}
    enum Key: CodingKey { case field }
    init(from decoder: any Decoder) throws { Keeper.decoder = decoder }
    func encode(to encoder: any Encoder) throws {
      Keeper.encoder = encoder
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(field, forKey: .field)
    }
  }

  @Test func `cannot read or write after its turn`() throws {
    let bytes = try #require(try structuredBytes([Keeper()]))
    _ = try structured([Keeper].self, from: bytes)
    let decoder = try #require(Keeper.decoder)
    #expect(throws: DecodingError.self) { try decoder.container(keyedBy: Keeper.Key.self) }
    let encoder = try #require(Keeper.encoder)
    var container = encoder.container(keyedBy: Keeper.Key.self)
    #expect(throws: EncodingError.self) { try container.encode(1, forKey: .field) }
    _ = container.nestedContainer(keyedBy: Keeper.Key.self, forKey: .field)
    #expect(notation(bytes) == #"[{"field": "value"}]"#)
  }

  @Test func `tells where decoding failed`() throws {
    struct Outer: Codable {
      var items: [[String: Int]]
    }
    let bytes = try #require(
      try structuredBytes(["items": [["a": "1"], ["b": "x"]]] as [String: [[String: String]]])
    )
    let error = #expect(throws: DecodingError.self) { try structured(Outer.self, from: bytes) }
    guard case .typeMismatch(_, let context) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["items", "Index 0", "a"])
    #expect(context.debugDescription == "expected Int, found \"1\"")
  }

  @Test func `tells which field is missing`() throws {
    struct Point: Codable { var x: Int }
    let bytes = try #require(try structuredBytes(["y": 1]))
    let error = #expect(throws: DecodingError.self) { try structured(Point.self, from: bytes) }
    guard case .keyNotFound(let key, _) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(key.stringValue == "x")
  }
}
