#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

// Composite values, which rows keep in CBOR, as JSON that people can query with SQL:
//
//     in Swift                     in jsonb
//     Bool, text, array            the same
//     a type with fields           an object with a member for each
//     Int, Double                  a number; whole doubles with ".0"
//     NaN, infinities, -0.0        {"$double": "nan"}, "inf", "-inf", "-0.0"
//     Date                         {"$date": 801234567.25}, seconds since 2001-01-01T00:00:00Z
//     UUID                         {"$uuid": "…"}
//     URL                          {"$url": "…"}
//     Data                         {"$data": "…"}, in base64
//     text with U+0000             {"$text": "…"}, its UTF-8 in base64: jsonb has no such character
//     any other tag                {"$tag": 1, "$value": …}
//     keys that are no text,       {"$map": [[key, value], …]}
//     or begin with "$"
//
// jsonb keeps members in an order of its own; nothing here depends on it.

/// Writes composite values as JSON.
enum CompositeText {
  /// Appends the JSON of a value.
  ///
  /// - Throws: ``Unwritable`` for bytes that no Swift value has.
  static func append(_ bytes: RawSpan, to json: inout [UInt8]) throws {
    guard let value = StructuredValue(bytes) else {
      throw Unwritable(reason: "its bytes are damaged")
    }
    try append(value, to: &json)
  }

  struct Unwritable: Error {
    let reason: String
  }

  /// Appends the JSON of a value.
  ///
  /// - Throws: ``Unwritable``.
  static func append(_ value: StructuredValue, to json: inout [UInt8]) throws {
    switch value {
    case .null: json.append(contentsOf: "null".utf8)
    case .bool(let value): json.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): json.append(contentsOf: String(value).utf8)
    case .unsigned(let value): json.append(contentsOf: String(value).utf8)
    case .double(let value): append(value, to: &json)
    case .text(let text):
      if text.utf8.contains(0) {
        appendWrapped("$text", Data(text.utf8).base64EncodedString(), to: &json)
      } else {
        append(text, to: &json)
      }
    case .bytes(let bytes):
      appendWrapped("$data", Data(bytes).base64EncodedString(), to: &json)
    case .date(let date):
      json.append(contentsOf: "{\"$date\":".utf8)
      append(date.timeIntervalSinceReferenceDate, to: &json)
      json.append(UInt8(ascii: "}"))
    case .uuid(let uuid): appendWrapped("$uuid", uuid.uuidString, to: &json)
    case .array(let values):
      json.append(UInt8(ascii: "["))
      for (place, value) in values.enumerated() {
        if place > 0 { json.append(UInt8(ascii: ",")) }
        try append(value, to: &json)
      }
      json.append(UInt8(ascii: "]"))
    case .map(let entries): try append(entries, to: &json)
    case .tagged(32, .text(let url)) where !url.utf8.contains(0):
      appendWrapped("$url", url, to: &json)
    case .tagged(let tag, let value):
      json.append(contentsOf: "{\"$tag\":\(tag),\"$value\":".utf8)
      try append(value, to: &json)
      json.append(UInt8(ascii: "}"))
    case .other(let notation): throw Unwritable(reason: "it contains \(notation)")
    }
  }

  private static func append(_ entries: [StructuredValue.Entry], to json: inout [UInt8]) throws {
    let isObject = entries.allSatisfy { entry in
      guard case .text(let name) = entry.key else { return false }
      return !name.hasPrefix("$") && !name.utf8.contains(0)
    }
    json.append(contentsOf: (isObject ? "{" : "{\"$map\":[").utf8)
    for (place, entry) in entries.enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      if !isObject { json.append(UInt8(ascii: "[")) }
      try append(entry.key, to: &json)
      json.append(UInt8(ascii: isObject ? ":" : ","))
      try append(entry.value, to: &json)
      if !isObject { json.append(UInt8(ascii: "]")) }
    }
    json.append(contentsOf: (isObject ? "}" : "]}").utf8)
  }

  private static func append(_ value: Double, to json: inout [UInt8]) {
    if value.isNaN { return appendWrapped("$double", "nan", to: &json) }
    if value.isInfinite { return appendWrapped("$double", value > 0 ? "inf" : "-inf", to: &json) }
    if value == 0, value.sign == .minus { return appendWrapped("$double", "-0.0", to: &json) }
    // jsonb keeps the zeros behind a point, and so what is a double and what an integer. A great number it would
    // write out without a point.
    if abs(value) >= 0x1p53 { return appendWrapped("$double", "\(value)", to: &json) }
    json.append(contentsOf: value.description.utf8)
  }

  private static func appendWrapped(_ name: String, _ text: String, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    append(name, to: &json)
    json.append(UInt8(ascii: ":"))
    append(text, to: &json)
    json.append(UInt8(ascii: "}"))
  }

  private static func append(_ text: String, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        json.append(UInt8(ascii: "\\"))
        json.append(byte)
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        json.append(contentsOf: "\\u00".utf8)
        json.append(digits[Int(byte >> 4)])
        json.append(digits[Int(byte & 15)])
      default: json.append(byte)
      }
    }
    json.append(UInt8(ascii: "\""))
  }
}
#endif
