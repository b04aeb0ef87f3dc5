extension NumberType {
  /// Reads a whole number of the type, as a column keeps it; `nil` for any other text.
  func integer(_ text: String) -> Int64? {
    isUnsignedInFull ? UInt64(text).map(Int64.init(bitPattern:)) : Int64(text)
  }

  /// The whole numbers that there are of the type, in words.
  var integerExtent: String {
    isUnsignedInFull ? "from 0 to \(UInt64.max)" : "from \(Int64.min) to \(Int64.max)"
  }
}
