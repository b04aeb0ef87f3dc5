extension NumberType {
  /// Reads a whole number of the type, as a column keeps it; `nil` for any other text.
  func integer(_ text: String) -> Int64? {
    if isUnsignedInFull { return UInt64(text).map(Int64.init(bitPattern:)) }
    return Int64(text).flatMap { integers.contains($0) ? $0 : nil }
  }

  /// The whole numbers that there are of the type, in words.
  var integerExtent: String {
    isUnsignedInFull
      ? "from 0 to \(UInt64.max)" : "from \(integers.lowerBound) to \(integers.upperBound)"
  }

  /// Reads a number of the type, as a column keeps it; `nil` for any other text, and for digits that come to infinity.
  ///
  /// A column of floats keeps what a float is: the digits behind that would make it unequal to the app's.
  func double(_ text: String) -> Double? {
    guard let value = self == .float ? Float(text).map(Double.init) : Double(text) else {
      return nil
    }
    // "inf" is meant; the digits of a number that is too great are not.
    let isSpelledOut = !text.contains { $0.isNumber }
    return value.isInfinite && !isSpelledOut ? nil : value
  }

  /// The numbers that there are of the type, in words.
  var doubleExtent: String {
    self == .float
      ? "from \(-Float.greatestFiniteMagnitude) to \(Float.greatestFiniteMagnitude)"
      : "from \(-Double.greatestFiniteMagnitude) to \(Double.greatestFiniteMagnitude)"
  }

  /// The whole numbers that a column keeps of the type: all with a sign, unless it has fewer bits.
  private var integers: ClosedRange<Int64> {
    switch self {
    case .signed(let bitWidth) where bitWidth < 64:
      -(1 << (bitWidth - 1))...(1 << (bitWidth - 1)) - 1
    case .unsigned(let bitWidth) where bitWidth < 64: 0...(1 << bitWidth) - 1
    case .signed, .unsigned, .float, .double: .min ... .max
    }
  }
}
