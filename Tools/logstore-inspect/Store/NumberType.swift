import LogEngine

/// The type that an app declares for the numbers of a column, which keeps all of them in 64 bits.
enum NumberType: Equatable {
  case signed(bitWidth: Int)
  case unsigned(bitWidth: Int)
  case float
  case double

  /// Reads an entry of the catalogue's metadata, such as `numbers UInt8`; `nil` for any other.
  init?(entry: [UInt8]) {
    switch String(decoding: entry, as: UTF8.self) {
    case "numbers Int", "numbers Int64": self = .signed(bitWidth: 64)
    case "numbers Int8": self = .signed(bitWidth: 8)
    case "numbers Int16": self = .signed(bitWidth: 16)
    case "numbers Int32": self = .signed(bitWidth: 32)
    case "numbers UInt", "numbers UInt64": self = .unsigned(bitWidth: 64)
    case "numbers UInt8": self = .unsigned(bitWidth: 8)
    case "numbers UInt16": self = .unsigned(bitWidth: 16)
    case "numbers UInt32": self = .unsigned(bitWidth: 32)
    case "numbers Float": self = .float
    case "numbers Double": self = .double
    default: return nil
    }
  }

  /// Whether there are numbers among them that a column keeps as negative ones.
  var isUnsignedInFull: Bool { self == .unsigned(bitWidth: 64) }

  /// A number of a column in the digits that the app shows: those that tell a float from other floats are fewer than those that
  /// tell the double, as which the column keeps it, from other doubles.
  func shown(_ value: Double) -> Double {
    guard self == .float, Double(Float(value)) == value,
      let shortest = Double(Float(value).description)
    else { return value }
    return shortest
  }

  /// The value of a column that a number in a condition means: beside floats it is one, as in Swift.
  func compared(_ value: Double) -> Double { self == .float ? Double(Float(value)) : value }
}

extension NumberType? {
  /// Whether there are numbers among them that a column keeps as negative ones.
  var isUnsignedInFull: Bool { self?.isUnsignedInFull ?? false }
}

extension InspectedStore {
  /// The type of a column's numbers; `nil` if they are none, or if the store does not say.
  ///
  /// The layer above notes it under `values.<table>.<column>`.
  func numberType(of column: ColumnDefinition, in table: UInt16) -> NumberType? {
    catalogue.metadata["values.\(table).\(column.number)"].flatMap(NumberType.init(entry:))
  }
}
