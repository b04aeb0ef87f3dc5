import Foundation

extension PredicateExpressions.Value: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    if let value = value as? any QueryScalar {
      guard let constant = value.queryValue else { throw .value("\(Output.self)") }
      return .constant(constant)
    }
    if let optional = value as? any NilTesting, optional.isNil { return .constant(.null) }
    if let range = value as? any QueryRange { return .range(try range.bounds()) }
    if let values = try elements() { return .constants(values) }
    if let raw = rawQueryValue(value), comparesByRawValue { return .constant(raw) }
    throw .value("\(Output.self)")
  }

  /// Whether two values of the type are equal exactly if their raw values are.
  ///
  /// So it is for enumerations and option sets; a structure may well compare itself otherwise.
  private var comparesByRawValue: Bool {
    value is any OptionSet || Mirror(reflecting: value).displayStyle == .enum
      || Mirror(reflecting: value).displayStyle == .optional
  }

  private func elements() throws(Untranslatable) -> [QueryValue]? {
    guard let sequence = value as? any Sequence else { return nil }
    return try queryValues(of: sequence)
  }
}

extension PredicateExpressions.NilLiteral: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .constant(.null)
  }
}

/// The elements of a captured sequence as an expression holds them.
private func queryValues<S: Sequence>(of sequence: S) throws(Untranslatable) -> [QueryValue] {
  if let element = S.Element.self as? any QueryScalar.Type,
    let values = queryValues(of: sequence, element)
  {
    return values
  }
  var values: [QueryValue] = []
  for element in sequence {
    let value =
      (element as? any QueryScalar)?.queryValue
      ?? ((element as? any NilTesting)?.isNil == true ? .null : rawQueryValue(element))
    guard let value else { throw .value("\(S.Element.self)") }
    values.append(value)
  }
  return values
}

/// The same without a cast for each element, for the sequences that people capture.
private func queryValues<Element: QueryScalar>(
  of sequence: Any,
  _: Element.Type
) -> [QueryValue]? {
  let values: [QueryValue?]
  if let array = sequence as? [Element] {
    values = array.map(\.queryValue)
  } else if let set = sequence as? Set<Element> {
    values = set.map(\.queryValue)
  } else {
    return nil
  }
  let present = values.compactMap { $0 }
  return present.count == values.count ? present : nil
}

/// An optional, asked whether it is nil without knowing what it wraps.
private protocol NilTesting {
  var isNil: Bool { get }
}

extension Optional: NilTesting {
  fileprivate var isNil: Bool { self == nil }
}

/// A range that the user captured.
private protocol QueryRange {
  func bounds() throws(Untranslatable) -> QueryExpression.Bounds
}

private func bound(_ value: Any) throws(Untranslatable) -> QueryExpression {
  guard let constant = (value as? any QueryScalar)?.queryValue else {
    throw .value("a range of \(type(of: value))")
  }
  return .constant(constant)
}

extension Range: QueryRange {
  fileprivate func bounds() throws(Untranslatable) -> QueryExpression.Bounds {
    .init(lower: try bound(lowerBound), upper: try bound(upperBound), includesUpper: false)
  }
}

extension ClosedRange: QueryRange {
  fileprivate func bounds() throws(Untranslatable) -> QueryExpression.Bounds {
    .init(lower: try bound(lowerBound), upper: try bound(upperBound), includesUpper: true)
  }
}

extension PartialRangeFrom: QueryRange {
  fileprivate func bounds() throws(Untranslatable) -> QueryExpression.Bounds {
    .init(lower: try bound(lowerBound), upper: nil, includesUpper: false)
  }
}

extension PartialRangeUpTo: QueryRange {
  fileprivate func bounds() throws(Untranslatable) -> QueryExpression.Bounds {
    .init(lower: nil, upper: try bound(upperBound), includesUpper: false)
  }
}

extension PartialRangeThrough: QueryRange {
  fileprivate func bounds() throws(Untranslatable) -> QueryExpression.Bounds {
    .init(lower: nil, upper: try bound(upperBound), includesUpper: true)
  }
}
