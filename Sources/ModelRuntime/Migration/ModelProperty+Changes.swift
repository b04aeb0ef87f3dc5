// What a property may differ in from that of an earlier version, though stores keep the values alike.

extension ModelProperty {
  /// Which side stores the membership of a list.
  package var listKeeping: String {
    guard isDerivable, let inverse else { return "with its owner" }
    return "with its members, in \(inverse.name)"
  }

  /// The types of a number that got fewer values: some of those there are may be none of them.
  package func narrowing(to other: ModelProperty) -> (String, String)? {
    guard let old = numberType, let new = other.numberType, !new.holds(old) else { return nil }
    return ("\(old)", "\(new)")
  }

  private var numberType: (any Numeric.Type)? {
    let type = Swift.type(of: keyPath).valueType
    return ((type as? any OptionalType.Type)?.wrappedType ?? type) as? any Numeric.Type
  }
}

extension Numeric {
  /// Whether every value of another type of number is one of this.
  fileprivate static func holds(_ other: any Numeric.Type) -> Bool {
    if let own = Self.self as? any FixedWidthInteger.Type,
      let other = other as? any FixedWidthInteger.Type
    {
      return own.isSigned == other.isSigned && own.bitWidth >= other.bitWidth
        || own.isSigned && own.bitWidth > other.bitWidth
    }
    return !(Self.self == Float.self && other == Double.self)
  }
}
