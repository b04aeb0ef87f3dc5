import Foundation

/// Prints a value in the diagnostic notation of RFC 8949, dates and UUIDs in their usual forms.
extension StructuredValue: CustomStringConvertible {
  package var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value):
      value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    case .text(let value): StructuredValue.quoted(value)
    case .bytes(let value): "h'\(value.map(StructuredValue.hexadecimal).joined())'"
    case .date(let value): "\(StructuredTag.referenceDate)(\(value.timeIntervalSinceReferenceDate))"
    case .uuid(let value):
      "\(StructuredTag.uuid)(h'\(value.uuidString.lowercased().filter { $0 != "-" })')"
    case .array(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .map(let entries):
      "{\(entries.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
    case .tagged(let tag, let value): "\(tag)(\(value))"
    case .other(let notation): notation
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        quoted += "\\u00" + hexadecimal(UInt8(scalar.value))
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
