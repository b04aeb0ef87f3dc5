import Foundation

extension PredicateExpressions.Value: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    // A cast to a protocol costs more than the rest of a translation.
    if let scalar = queryScalar(Output.self), let constant = queryValue(as: scalar) {
      return .constant(constant)
    }
    if let constant = QueryValue(known: value) { return .constant(constant) }
    if let range = value as? any QueryRange { return .range(try range.bounds()) }
    if let sequence = value as? any Sequence, let values = queryValues(of: sequence) {
      return .constants(values)
    }
    return .constant(.opaque(OpaqueValue(value)))
  }

  /// Converts the value, whose type is this one.
  private func queryValue<Scalar: QueryScalar>(as _: Scalar.Type) -> QueryValue? {
    assert(Output.self == Scalar.self, "a value of \(Output.self) as \(Scalar.self)")
    return unsafe unsafeBitCast(value, to: Scalar.self).queryValue
  }
}

extension PredicateExpressions.NilLiteral: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .constant(.null)
  }
}

/// The elements of a captured sequence in the form of an expression, or `nil` if it does not understand them.
private func queryValues<S: Sequence>(of sequence: S) -> [QueryValue]? {
  if let element = queryScalar(S.Element.self),
    let values = queryValues(of: sequence, element)
  {
    return values
  }
  var values: [QueryValue] = []
  for element in sequence {
    guard let value = QueryValue(known: element) else { return nil }
    values.append(value)
  }
  return values
}

/// The same without a cast for each element, for the usual captured sequences.
private func queryValues<Element: QueryScalar>(
  of sequence: Any,
  _: Element.Type
) -> [QueryValue]? {
  if let array = sequence as? [Element] { return queryValues(ofScalars: array) }
  if let set = sequence as? Set<Element> { return queryValues(ofScalars: set) }
  return nil
}

private func queryValues<Scalars: Collection>(ofScalars scalars: Scalars) -> [QueryValue]?
where Scalars.Element: QueryScalar {
  var values: [QueryValue] = []
  values.reserveCapacity(scalars.count)
  for scalar in scalars {
    guard let value = scalar.queryValue else { return nil }
    values.append(value)
  }
  return values
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
